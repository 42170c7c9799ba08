import API

extension StatusEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/service-kinds", id: "listServiceKinds",
            summary: "Every service, and how many instances live",
            parameters: [.limit, .cursor], responses: [.json("The services.", "ServiceKinds")],
            problems: [.invalidInput]),
        APIOperation(
            method: .get, path: "/v1/stats", id: "getStatistics", summary: "Counts of sessions, journeys and services",
            responses: [.json("The numbers.", "Statistics")]),
        APIOperation(
            method: .get, path: "/metrics", id: "getMetrics", summary: "Metrics, for a scraper",
            responses: [
                APIResponse(
                    status: .ok, meaning: "OpenMetrics 1.0 text.",
                    contents: [("application/openmetrics-text; version=1.0.0; charset=utf-8", "Text")])
            ]),
    ]
}
