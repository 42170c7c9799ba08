import HTTPServer
import JSONDocument
import Sessions

extension MoveEndpoints {
    /// An answer that is remembered is one that is kept as a whole, and an export is not: rather than take a promise that
    /// is not kept, the field is refused. An export may be asked for again without it: it changes nothing.
    static func refuseIdempotencyKey(_ request: HTTPRequest) throws(Problem) {
        guard request.fields.bytes(of: .idempotencyKey) == nil else { throw Problem(.idempotencyKeyNotPossible) }
    }

    /// `after`, in the query or in a body, as it is more convenient.
    static func cursor(of request: HTTPRequest) throws -> SessionCursor? {
        let query = try arguments(of: request, known: ["after"])
        let body = try RequestBody.readMembers(request, known: ["after"], isOptional: true)["after"]
        if let body, body.string == nil, !body.isNull { throw refusal("after", "must be a string") }
        let text = query["after"] ?? body?.string
        guard let text else { return nil }
        do {
            return try SessionCursor(text: text)
        } catch {
            throw refusal("after", error.description)
        }
    }

    static func options(of request: HTTPRequest) throws -> (conflict: SessionImport.Conflict, isTrial: Bool) {
        let query = try arguments(of: request, known: ["on_conflict", "dry_run"])
        let choices = SessionImport.Conflict.allCases.map(\.rawValue).joined(separator: " or ")
        guard let conflict = SessionImport.Conflict(rawValue: query["on_conflict"] ?? "skip") else {
            throw refusal("on_conflict", "must be \(choices)")
        }
        switch query["dry_run"] {
        case nil, "false": return (conflict, false)
        case "true", "": return (conflict, true)
        default: throw refusal("dry_run", "must be true or false")
        }
    }

    private static func arguments(of request: HTTPRequest, known: [String]) throws -> [String: String] {
        var arguments: [String: String] = [:]
        for argument in try request.query.all {
            guard known.contains(argument.name) else { throw refusal(argument.name, "is not known in this query") }
            guard arguments.updateValue(argument.value, forKey: argument.name) == nil else {
                throw refusal(argument.name, "stands in this query twice")
            }
        }
        return arguments
    }

    private static func refusal(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidInput, errors: [InvalidInput(pointer: "/\(JSONPointer.escape(name))", detail: detail)])
    }
}
