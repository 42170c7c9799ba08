import API
import Configuration
import HTTPServer

/// The flows that can be started, and pictures of them: API, section 5.
struct FlowEndpoints: Sendable {
    let pages: FlowPages
    let graphs: FlowGraphs
    /// What callers without a token may know.
    let isPublic: FlowsPublic
    /// Throws when the request has no token of a session.
    let checkCaller: CallerCheck

    typealias CallerCheck = @Sendable (HTTPRequest) async throws -> Void

    func add(to routes: inout RouterBuilder) {
        routes.on(
            .get, "/v1/flows",
            handler: { request in
                guard isPublic == .nothing else { return .response(try pages.list(request)) }
                return .task {
                    try await checkCaller(request)
                    return .response(try pages.list(request))
                }
            })
        add("/v1/flows/{flow}", to: &routes)
        add("/v1/flows/{flow}/versions/{n}", to: &routes)
        routes.on(.get, "/v1/flows/{flow}/graph", graph)
        routes.on(.get, "/v1/flows/{flow}/versions/{n}/graph", graph)
    }

    private func add(_ path: String, to routes: inout RouterBuilder) {
        routes.on(
            .get, path,
            handler: { request in
                if let isWhole = seesDefinitions(request) { return .response(try page(request, isWhole: isWhole)) }
                return .task { .response(try page(request, isWhole: try await mayReadDefinitions(request))) }
            })
    }

    private func page(_ request: HTTPRequest, isWhole: Bool) throws -> HTTPResponse {
        guard
            let (page, language) = pages.page(
                of: request.parameter("flow"), version: try version(of: request), isWhole: isWhole, for: request)
        else { throw Problem(.flowNotFound) }
        var response = try page.answer(to: request, varying: varying + (language == nil ? [] : [.acceptLanguage]))
        if let language { response.fields.add(.contentLanguage, language) }
        return response
    }

    /// Callers with a token get the definition, others the outline.
    private var varying: [HTTPFieldName] { isPublic == .outlines ? SessionCredential.fields : [] }

    /// Nil when the token has to be looked at.
    private func seesDefinitions(_ request: HTTPRequest) -> Bool? {
        switch isPublic {
        case .definitions: true
        case .outlines: SessionCredential.fields.contains(where: request.fields.contains) ? nil : false
        case .nothing: nil
        }
    }

    /// - Throws: `Problem` 401 where flows are not public at all.
    private func mayReadDefinitions(_ request: HTTPRequest) async throws -> Bool {
        if let known = seesDefinitions(request) { return known }
        do {
            try await checkCaller(request)
            return true
        } catch  where isPublic == .outlines {
            // With a token that opens nothing one sees what everybody sees.
            return false
        }
    }

    private func graph(_ request: HTTPRequest) async throws -> HTTPResponse {
        let isWhole = try await mayReadDefinitions(request)
        guard let flow = pages.flow(request.parameter("flow"), version: try version(of: request)) else {
            throw Problem(.flowNotFound)
        }
        let forms = graphs.forms
        guard let form = AcceptedTypes(request).best(of: forms.map(\.mediaType)).flatMap(GraphForm.init(mediaType:))
        else {
            let list = forms.map(\.mediaType).joined(separator: ", ")
            throw Problem(.notAcceptable, "The graph can be had as one of these: \(list).", fields: [.vary: "Accept"])
        }
        return try await graphs.graph(of: flow, as: form, isOutline: !isWhole)
            .answer(to: request, varying: [.accept] + varying)
    }

    /// Nil where the path names none.
    private func version(of request: HTTPRequest) throws(Problem) -> Int? {
        guard request.match.route?.pattern.parameterNames.contains("n") == true else { return nil }
        let text = request.parameter("n")
        guard let version = Int(text), String(version) == text else { throw Problem(.flowNotFound) }
        return version
    }
}

extension FlowEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/flows", id: "listFlows",
            summary: "The flows that can be started", access: .anyone,
            parameters: [.limit, .cursor, .acceptLanguage, .ifNoneMatch],
            responses: [.json("Each flow once, with its versions.", "FlowList", headers: [.etag, .vary]), .unchanged],
            problems: reading + [.invalidInput]),
        APIOperation(
            method: .get, path: "/v1/flows/{flow}", id: "getFlow",
            summary: "A flow, in the version that new journeys get", access: .anyone,
            parameters: [.acceptLanguage, .ifNoneMatch],
            responses: [.json("The flow.", "Flow", headers: [.etag, .contentLanguage, .vary]), .unchanged],
            problems: reading + [.flowNotFound]),
        APIOperation(
            method: .get, path: "/v1/flows/{flow}/versions/{n}", id: "getFlowVersion",
            summary: "A flow in one of its versions", access: .anyone, parameters: [.acceptLanguage, .ifNoneMatch],
            responses: [.json("The flow.", "Flow", headers: [.etag, .contentLanguage, .vary]), .unchanged],
            problems: reading + [.flowNotFound]),
        graph(path: "/v1/flows/{flow}/graph", id: "drawFlow", summary: "The flow as a picture"),
        graph(
            path: "/v1/flows/{flow}/versions/{n}/graph", id: "drawFlowVersion",
            summary: "One version of the flow as a picture"),
    ]

    private static func graph(path: String, id: String, summary: String) -> APIOperation {
        APIOperation(
            method: .get, path: path, id: id, summary: summary, access: .anyone,
            parameters: [.ifNoneMatch],
            responses: [
                APIResponse(
                    status: .ok, meaning: "The graph, in the form that `Accept` prefers.",
                    contents: GraphForm.allCases.map { ($0.mediaType, "Text") }, headers: [.etag, .vary]),
                .unchanged,
            ],
            problems: reading + [.flowNotFound, .notAcceptable, .drawingFailed])
    }

    /// 401 with `flows_public` false in the configuration.
    private static let reading: [ProblemKind] = [.invalidCondition, .unauthenticated]
}
