import HTTPServer
import JSONDocument
import Sessions

/// Which part of a list is asked for: `?limit=1..100&cursor=…`.
struct PageRequest {
    static let defaultLimit = 50
    static let limits = 1...100

    let limit: Int
    let cursor: SessionCursor?
    private let query: QueryArguments

    /// - Parameter known: further arguments that the list takes.
    init(_ request: HTTPRequest, known: [String] = []) throws {
        query = try request.query
        var errors: [InvalidInput] = []
        for argument in query.all where !(["limit", "cursor"] + known).contains(argument.name) {
            errors.append(
                InvalidInput(pointer: "/\(JSONPointer.escape(argument.name))", detail: "is not known in this query"))
        }
        for (index, argument) in query.all.enumerated()
        where query.all[..<index].contains(where: { $0.name == argument.name }) {
            errors.append(
                InvalidInput(pointer: "/\(JSONPointer.escape(argument.name))", detail: "stands in this query twice"))
        }
        let limit = query["limit"].map { Int($0) ?? 0 } ?? Self.defaultLimit
        if !Self.limits.contains(limit) {
            errors.append(InvalidInput(pointer: "/limit", detail: "must be a number from 1 to 100"))
        }
        guard errors.isEmpty else { throw Problem(.invalidInput, errors: errors) }
        self.limit = limit
        cursor = try query["cursor"].map { try SessionCursor(text: $0) }
    }

    /// The value of one of the further arguments.
    subscript(name: String) -> String? { query[name] }
}
