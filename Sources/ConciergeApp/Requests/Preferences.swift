import HTTPServer

extension HTTPFieldName {
    static let prefer = HTTPFieldName("Prefer")
    static let preferenceApplied = HTTPFieldName("Preference-Applied")
}

extension HTTPRequest {
    /// Whether the client would rather have no body back: `Prefer: return=minimal`, RFC 7240, section 4.2.
    private var prefersMinimal: Bool {
        guard fields.bytes(of: .prefer) != nil else { return false }
        return fields.values(of: .prefer).contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { preference in
                let name = preference.split(separator: UInt8(ascii: ";")).first ?? preference[...]
                // A value may be a token or the same in quotes.
                return ["return=minimal", "return=\"minimal\""].contains { ArraySlice(name).trimmed.equals($0) }
            }
        }
    }

    /// The answer, without its body where the client prefers that.
    func minimized(_ response: consuming HTTPResponse) -> HTTPResponse {
        guard response.status == .ok, prefersMinimal else { return response }
        var minimal = HTTPResponse(.noContent)
        for line in response.fields.lines where line.name != .contentType { minimal.fields.add(line.name, line.value) }
        minimal.fields.add(.preferenceApplied, "return=minimal")
        return minimal
    }
}
