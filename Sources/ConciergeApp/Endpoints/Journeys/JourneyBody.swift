import HTTPServer
import JSONDocument
import Sessions

/// The members of what a request about journeys carries.
struct JourneyBody {
    private let members: [String: JSONDocument]

    /// - Throws: `Problem` 400 for a member that is not `known`, and as `RequestBody`.
    init(_ request: HTTPRequest, known: [String], isOptional: Bool = false) throws(Problem) {
        members = try RequestBody.readMembers(request, known: known, isOptional: isOptional)
    }

    subscript(name: String) -> JSONDocument? { members[name] }

    /// Nil where it is left out.
    func text(_ name: String) throws(Problem) -> String? {
        guard let value = members[name] else { return nil }
        guard let text = value.string, !text.isEmpty else {
            throw Problem(
                .invalidInput,
                errors: [InvalidInput(pointer: "/\(name)", detail: "must be a string with something in it")])
        }
        return text
    }

    /// Nil where it is left out.
    func number(_ name: String) throws(Problem) -> Int? {
        guard let value = members[name] else { return nil }
        guard let number = value.int, number > 0 else {
            throw Problem(
                .invalidInput, errors: [InvalidInput(pointer: "/\(name)", detail: "must be a number from 1 on")])
        }
        return number
    }

    static func missing(_ name: String) -> Problem {
        Problem(.invalidInput, errors: [InvalidInput(pointer: "/\(name)", detail: "is required")])
    }
}
