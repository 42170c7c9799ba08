/// What a request carries.
struct APIBody: Sendable {
    /// By media type.
    let contents: [(mediaType: String, schema: APISchema)]
    var isRequired = true

    static func json(_ schema: APISchema, isRequired: Bool = true) -> APIBody {
        APIBody(contents: [(RequestBody.json, schema)], isRequired: isRequired)
    }
}
