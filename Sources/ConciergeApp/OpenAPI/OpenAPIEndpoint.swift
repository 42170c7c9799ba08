import HTTPServer

/// `GET /openapi.json`: what this listener's API is, for programs. Written once, at start.
struct OpenAPIEndpoint: Sendable {
    private let document: [UInt8]

    init(listener: APIListener) {
        document = OpenAPIDocument(listener: listener).bytes
    }

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/openapi.json") { [document] _ in
            HTTPResponse(fields: [.contentType: RequestBody.json], body: document)
        }
    }

    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/openapi.json", id: "getDescription", summary: "This description", access: .anyone,
            answers: [.json("An OpenAPI 3.1 document.", .anyObject)])
    ]
}
