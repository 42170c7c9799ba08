import API
import HTTPServer
import Navigation
import Operations
import Sessions

/// `GET /openapi.json`: the description of this listener's API.
struct OpenAPIEndpoint: Sendable {
    private let document: LazyRepresentation

    /// - Parameter flows: those that everybody may know of.
    init(listener: APIListener, services: [RegisteredService], flows: FlowCatalog) {
        document = LazyRepresentation {
            let document = OpenAPIDocument(
                listener: listener, version: BuildInformation.version, groups: APIGroup.all(on: listener),
                services: services, flows: flows)
            return Representation(MediaType.json, document.bytes)
        }
    }

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/openapi.json") { [document] request in try document.value.answer(to: request) }
    }

    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/openapi.json", id: "getDescription", summary: "This description", access: .anyone,
            parameters: [.ifNoneMatch],
            responses: [
                .json("An OpenAPI 3.1 document.", "JSONObject", headers: [.etag, .vary]),
                .unchanged,
            ], problems: [.invalidCondition])
    ]
}
