import API
import HTTPServer
import JSONDocument
import Sessions

extension MoveEndpoints {
    /// A response that may be replayed is kept as a whole, which an export is too large for. So the field is refused
    /// instead of ignored. An export changes nothing, so the client can repeat it without the field.
    static func refuseIdempotencyKey(_ request: HTTPRequest) throws(Problem) {
        guard !request.fields.contains(.idempotencyKey) else { throw Problem(.idempotencyKeyNotPossible) }
    }

    /// `after`, from the query or the body.
    static func cursor(of request: HTTPRequest) throws -> SessionCursor? {
        let body = try RequestBody.readMembers(request, known: ["after"], isOptional: true)["after"]
        if let body, body.string == nil, !body.isNull { throw refusal("must be a string") }
        guard let text = try QueryReader(request).text(.after) ?? body?.string else { return nil }
        do {
            return try SessionCursor(text: text)
        } catch {
            throw refusal(error.description)
        }
    }

    static func options(of request: HTTPRequest) throws -> (conflict: SessionImport.Conflict, isTrial: Bool) {
        var query = try QueryReader(request)
        let conflict: SessionImport.Conflict = query.choice(.onConflict) ?? .skip
        let isTrial = query.flag(.dryRun) ?? false
        try query.check()
        return (conflict, isTrial)
    }

    private static func refusal(_ detail: String) -> Problem {
        Problem(.invalidInput, errors: [InvalidInput(pointer: "/after", detail: detail)])
    }
}
