import HTTPServer

extension HTTPRequest {
    /// Whether an origin is the server's own, by the name that the request gives it: host and port of `Origin` are
    /// those of `Host`. Behind a proxy that ends TLS the schemes may differ.
    ///
    /// RFC 9112, section 3.2.2: the host of a target in absolute-form takes the place of the field.
    func isOwnOrigin(_ origin: ArraySlice<UInt8>) -> Bool {
        let authority = (targetAuthority ?? fields[.host] ?? "").lowercased()
        // Browsers leave out the scheme's own port.
        return [("http://", ":80"), ("https://", ":443")].contains { scheme, port in
            origin.equals(scheme + (authority.hasSuffix(port) ? String(authority.dropLast(port.count)) : authority))
        }
    }

    /// Whether a browser says that a page of this origin has sent the request.
    var isFromOwnPage: Bool {
        switch (fields.only(.secFetchSite), fields.only(.origin)) {
        case (.one(let site), .none): site.equals("same-origin")
        case (.one(let site), .one(let origin)): site.equals("same-origin") && isOwnOrigin(origin)
        case (.none, .one(let origin)): isOwnOrigin(origin)
        default: false
        }
    }
}
