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
        routes.on(.get, "/openapi.json") { [self] request in
            try representation(under: request.basePath).answer(to: request)
        }
    }

    /// The document is made once: a base path may be what a client wrote.
    private func representation(under basePath: String) -> Representation {
        let common = document.value
        guard !basePath.isEmpty else { return common }
        return Representation(
            MediaType.json, OpenAPIDocument.bytes(common.bytes, under: basePath))
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
