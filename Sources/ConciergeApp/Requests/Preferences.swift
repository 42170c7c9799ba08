import HTTPServer

extension HTTPFieldName {
    static let prefer = HTTPFieldName("Prefer")
    static let preferenceApplied = HTTPFieldName("Preference-Applied")
}

extension HTTPRequest {
    /// Whether the client would rather have no body back: `Prefer: return=minimal`, RFC 7240, section 4.2.
    private var prefersMinimal: Bool {
        guard fields.contains(.prefer) else { return false }
        // What nearly every client sends.
        var isPlain = false
        fields.lend(.prefer) { isPlain = $0.isExactly("return=minimal") }
        if isPlain { return true }
        return fields.values(of: .prefer).contains { value in
            value.utf8.split(separator: UInt8(ascii: ",")).contains { preference in
                let name = preference.split(separator: UInt8(ascii: ";")).first ?? preference[...]
                // A value may be a token or the same in quotes.
                return ["return=minimal", "return=\"minimal\""].contains { ArraySlice(name).trimmed.equals($0) }
            }
        }
    }

    /// The response, without its body where the client prefers that.
    func minimized(_ response: consuming HTTPResponse) -> HTTPResponse {
        guard response.status == .ok, prefersMinimal else { return response }
        response.status = .noContent
        response.body = []
        if !response.fields.replace(.state, with: .minimizedState) {
            response.fields[.contentType] = nil
            response.fields.add(.preferenceApplied, "return=minimal")
        }
        return response
    }
}
