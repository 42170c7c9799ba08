import HTTPServer
import JSONDocument
import Sessions

/// Which part of a list is asked for: `?limit=1..100&cursor=…`.
struct PageRequest {
    static let defaultLimit = 50
    static let limits = 1...100

    let limit: Int
    /// As it was sent; which list it is of decides what it means.
    let cursorText: String?
    private let query: QueryArguments

    /// - Parameter known: further arguments that the list takes.
    /// - Throws: `Problem` 400 `invalid_input` for each argument that is none.
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
        cursorText = query["cursor"]
    }

    /// Whether it is for the page that is given to who asks for none.
    var isFirst: Bool { limit == Self.defaultLimit && cursorText == nil }

    /// In a list of sessions.
    /// - Throws: ``SessionError/malformedCursor``.
    var cursor: SessionCursor? {
        get throws { try cursorText.map { try SessionCursor(text: $0) } }
    }

    /// The value of one of the further arguments.
    subscript(name: String) -> String? { query[name] }
}
