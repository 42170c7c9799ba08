import HTTPServer

/// One way for an operation to succeed. `Request-Id` and the fields against caching are on every answer.
struct APIAnswer: Sendable {
    let status: HTTPStatus
    let meaning: String
    /// By media type; none for an answer without a body.
    var contents: [(mediaType: String, schema: APISchema)] = []
    var headers: [APIHeader] = []

    static func json(
        _ meaning: String, _ schema: APISchema, status: HTTPStatus = .ok, headers: [APIHeader] = []
    ) -> APIAnswer {
        APIAnswer(status: status, meaning: meaning, contents: [(RequestBody.json, schema)], headers: headers)
    }

    /// 204.
    static func done(_ meaning: String, headers: [APIHeader] = []) -> APIAnswer {
        APIAnswer(status: .noContent, meaning: meaning, headers: headers)
    }

    /// 204 where the client asked for no body.
    static let minimal = done(
        "Done; the body was left out as `Prefer: return=minimal` asked.", headers: [.preferenceApplied])
}
