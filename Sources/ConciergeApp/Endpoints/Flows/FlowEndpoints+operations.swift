import API

extension FlowEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/flows", id: "listFlows",
            summary: "The flows that can be started", access: .anyone,
            parameters: [.limit, .cursor, .acceptLanguage, .ifNoneMatch],
            responses: [.json("Each flow once, with its versions.", "FlowList", headers: [.etag, .vary]), unchanged],
            problems: reading + [.invalidInput]),
        APIOperation(
            method: .get, path: "/v1/flows/{flow}", id: "getFlow",
            summary: "A flow, in the version that new journeys get", access: .anyone,
            parameters: [.acceptLanguage, .ifNoneMatch],
            responses: [.json("The flow.", "Flow", headers: [.etag, .contentLanguage, .vary]), unchanged],
            problems: reading + [.flowNotFound]),
        APIOperation(
            method: .get, path: "/v1/flows/{flow}/versions/{n}", id: "getFlowVersion",
            summary: "A flow in one of its versions", access: .anyone, parameters: [.acceptLanguage, .ifNoneMatch],
            responses: [.json("The flow.", "Flow", headers: [.etag, .contentLanguage, .vary]), unchanged],
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
                unchanged,
            ],
            problems: reading + [.flowNotFound, .notAcceptable, .drawingFailed])
    }

    /// 401 with `flows_public` false in the configuration.
    private static let reading: [ProblemKind] = [.invalidCondition, .unauthenticated]

    private static let unchanged = APIResponse(
        status: .notModified, meaning: "The client has it already.", headers: [.etag])
}
