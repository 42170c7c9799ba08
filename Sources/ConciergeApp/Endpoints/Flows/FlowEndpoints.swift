import HTTPServer
import Navigation

/// The flows that can be started, and pictures of them: API, section 5.
struct FlowEndpoints: Sendable {
    let pages: FlowPages
    let graphs: FlowGraphs
    /// Throws when the caller may not look at flows; nil when everybody may.
    let checkCaller: CallerCheck?

    typealias CallerCheck = @Sendable (HTTPRequest) async throws -> Void

    func add(to routes: inout RouterBuilder) {
        add("/v1/flows", to: &routes) { try pages.list(PageRequest($0)) }
        add("/v1/flows/{flow}", to: &routes, page)
        add("/v1/flows/{flow}/versions/{n}", to: &routes, page)
        routes.on(.get, "/v1/flows/{flow}/graph", graph)
        routes.on(.get, "/v1/flows/{flow}/versions/{n}/graph", graph)
    }

    private func add(
        _ path: String, to routes: inout RouterBuilder,
        _ page: @escaping @Sendable (HTTPRequest) throws -> Representation
    ) {
        routes.on(
            .get, path,
            handler: { request in
                guard let checkCaller else { return .response(try page(request).answer(to: request)) }
                return .task {
                    try await checkCaller(request)
                    return .response(try page(request).answer(to: request))
                }
            })
    }

    @Sendable private func page(_ request: HTTPRequest) throws -> Representation {
        guard let page = pages.page(of: request.parameter("flow"), version: try version(of: request)) else {
            throw Problem(.flowNotFound)
        }
        return page
    }

    private func graph(_ request: HTTPRequest) async throws -> HTTPResponse {
        try await checkCaller?(request)
        guard let flow = pages.flow(request.parameter("flow"), version: try version(of: request)) else {
            throw Problem(.flowNotFound)
        }
        let forms = graphs.forms
        guard let form = AcceptedTypes(request).best(of: forms.map(\.mediaType)).flatMap(GraphForm.init(mediaType:))
        else {
            let list = forms.map(\.mediaType).joined(separator: ", ")
            throw Problem(.notAcceptable, "The graph can be had as one of these: \(list).", fields: [.vary: "Accept"])
        }
        return try await graphs.graph(of: flow, as: form).answer(to: request, varies: true)
    }

    /// Nil where the path names none.
    private func version(of request: HTTPRequest) throws(Problem) -> Int? {
        guard request.match.route?.pattern.parameterNames.contains("n") == true else { return nil }
        let text = request.parameter("n")
        guard let version = Int(text), String(version) == text else { throw Problem(.flowNotFound) }
        return version
    }
}
