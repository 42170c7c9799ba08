import HTTPServer

extension HTTPResponse {
    /// Puts another request's id into a problem that is given out once more: `request_id` is that of the answer's own
    /// `Request-Id`. Other answers stay as they are.
    mutating func nameInProblem(_ requestID: String) {
        guard fields[.contentType] == Problem.mediaType else { return }
        // No text of a problem holds these bytes: a quotation mark within one has a backslash before it.
        let member = Array("\"request_id\":\"".utf8)
        let quote = UInt8(ascii: "\"")
        for place in body.indices where body[place] == quote && body[place...].starts(with: member) {
            let start = place + member.count
            guard let end = body[start...].firstIndex(of: quote) else { return }
            body.replaceSubrange(start..<end, with: requestID.utf8)
            return
        }
    }
}
