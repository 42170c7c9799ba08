import API
import HTTPServer
import JSONDocument
import Sessions

/// Refuses a query with an undeclared or repeated argument.
///
/// An endpoint declares its arguments in its ``APIOperation``, which also describes them, and reads them with
/// ``QueryReader``.
///
/// `Problem`s: 400 `invalid_input` with a pointer to each such argument.
struct QueryMiddleware: HTTPMiddleware {
    /// The declared arguments by method and pattern.
    private let known: [String: Set<String>]

    init(_ listener: APIListener) {
        let operations = APIGroup.all(on: listener).flatMap(\.operations)
        known = Dictionary(
            uniqueKeysWithValues: operations.map { operation in
                let names = operation.parameters.filter(\.isInQuery).map(\.rawValue)
                return ("\(operation.method) \(operation.path)", Set(names))
            })
    }

    func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
        try check(request)
        return try next(request)
    }

    private func check(_ request: HTTPRequest) throws {
        guard request.hasQuery, let route = request.match.route else { return }
        let known = known["\(route.method) \(route.pattern.text)"] ?? []
        var seen: Set<String> = []
        var errors: [JSONViolation] = []
        for (name, _) in try request.query.all {
            let isNew = seen.insert(name).inserted
            let detail =
                !known.contains(name) ? "is not an argument of this query" : isNew ? nil : "must not occur twice"
            if let detail { errors.append(JSONViolation(pointer: "/\(JSONPointer.escape(name))", detail: detail)) }
        }
        guard errors.isEmpty else { throw Problem(.invalidInput, errors: errors) }
    }
}

/// Reads the arguments of a query by type, and collects the mistakes for ``check()``.
struct QueryReader {
    private let arguments: QueryArguments
    private var errors: [JSONViolation] = []

    init(_ request: HTTPRequest) throws(HTTPError) { arguments = try request.query }

    func text(_ parameter: APIParameter) -> String? { arguments[parameter.rawValue] }

    mutating func integer(_ parameter: APIParameter, in range: ClosedRange<Int>) -> Int? {
        guard let text = text(parameter) else { return nil }
        if let number = Int(text), range.contains(number) { return number }
        refuse(parameter, "must be an integer from \(range.lowerBound) to \(range.upperBound)")
        return nil
    }

    /// `true`, `false`, or the name alone for `true`.
    mutating func flag(_ parameter: APIParameter) -> Bool? {
        switch text(parameter) {
        case nil: return nil
        case "true", "": return true
        case "false": return false
        default:
            refuse(parameter, "must be true or false")
            return nil
        }
    }

    mutating func choice<Choice: RawRepresentable<String> & CaseIterable>(_ parameter: APIParameter) -> Choice? {
        guard let text = text(parameter) else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        refuse(parameter, "must be \(Choice.allCases.map(\.rawValue).joined(separator: " or "))")
        return nil
    }

    /// Two texts with a colon between, of which the first has none.
    mutating func pair(_ parameter: APIParameter) -> (name: String, value: String)? {
        guard let text = text(parameter) else { return nil }
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        if parts.count == 2 { return (String(parts[0]), String(parts[1])) }
        refuse(parameter, "must be a name and a value, as in plan:gold")
        return nil
    }

    mutating func sessionID(_ parameter: APIParameter) -> SessionID? {
        guard let text = text(parameter) else { return nil }
        if let id = SessionID(text) { return id }
        refuse(parameter, "must be the id of a session")
        return nil
    }

    mutating func duration(_ parameter: APIParameter) -> Duration? {
        guard let text = text(parameter) else { return nil }
        if let duration = DurationText.parse(text) { return duration }
        refuse(parameter, "must be a duration, as in 90s, 24h or P7D")
        return nil
    }

    /// - Throws: `Problem` 400 `invalid_input` with all mistakes so far.
    func check() throws(Problem) {
        guard errors.isEmpty else { throw Problem(.invalidInput, errors: errors) }
    }

    private mutating func refuse(_ parameter: APIParameter, _ detail: String) {
        errors.append(JSONViolation(pointer: "/\(parameter.rawValue)", detail: detail))
    }
}
