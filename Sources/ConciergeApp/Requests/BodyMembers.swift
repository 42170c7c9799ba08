import API
import HTTPServer
import JSONDocument
import Sessions

/// The members of a request's body, by their types.
struct BodyMembers {
    /// Nil where the body was left out.
    private let document: JSONDocument?

    /// - Throws: `Problem` 400 for a member that is not `known`, and as `RequestBody`.
    init(_ request: HTTPRequest, known: [String], isOptional: Bool = false) throws {
        if isOptional, RequestBody.isLeftOut(by: request) {
            document = nil
            return
        }
        let document = try RequestBody.read(request)
        self.document = document
        // If the body has as many known members as members, it has no others. Otherwise each unknown one is reported.
        let found = known.count { document[member: $0] != nil }
        if document.kind == .object, found == document.count { return }
        _ = try RequestBody.members(of: document, at: "", known: known)
    }

    subscript(name: String) -> JSONDocument? { document?[member: name] }

    /// Nil where it is left out.
    func text(_ name: String) throws(Problem) -> String? {
        guard let value = self[name] else { return nil }
        guard let text = value.string, !text.isEmpty else { throw Self.refusal(name, "must be a non-empty string") }
        return text
    }

    /// Nil where it is left out.
    func number(_ name: String) throws(Problem) -> Int? {
        guard let value = self[name] else { return nil }
        guard let number = value.int, number > 0 else { throw Self.refusal(name, "must be a positive integer") }
        return number
    }

    /// False where it is left out.
    func flag(_ name: String) throws(Problem) -> Bool {
        guard let value = self[name] else { return false }
        guard let flag = value.bool else { throw Self.refusal(name, "must be a boolean") }
        return flag
    }

    /// Nil where it is left out.
    func duration(_ name: String, in range: ClosedRange<Duration>) throws(Problem) -> Duration? {
        guard let value = self[name] else { return nil }
        guard let duration = value.string.flatMap({ DurationText.parse($0) }), range.contains(duration) else {
            let (least, most) = (DurationText.format(range.lowerBound), DurationText.format(range.upperBound))
            throw Self.refusal(name, "must be a duration from \"\(least)\" to \"\(most)\", as in \"30s\"")
        }
        return duration
    }

    static func missing(_ name: String) -> Problem { refusal(name, "is required") }

    static func refusal(_ name: String, _ detail: String) -> Problem {
        Problem(.invalidInput, errors: [InvalidInput(pointer: "/\(name)", detail: detail)])
    }
}
