import HTTPServer

extension ProgramEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/health/alive", id: "getAlive", summary: "Whether the process responds",
            access: .anyone, responses: [.json("It does.", .alive)]),
        APIOperation(
            method: .get, path: "/health/ready", id: "getReady", summary: "Whether the server is ready for traffic",
            access: .anyone,
            responses: [
                .json("It does.", .readiness),
                .json(
                    "Not ready; the failing check says why.", .readiness, status: .serviceUnavailable,
                    headers: [.retryAfter]),
            ]),
        APIOperation(
            method: .get, path: "/version", id: "getVersion", summary: "The name and version of the program",
            access: .anyone,
            responses: [.json("Name and version.", .version)]),
        APIOperation(
            method: .get, path: "/problems/{code}", id: "explainProblem", summary: "Explains a kind of problem",
            access: .anyone, responses: [.json("The explanation.", .problemExplanation)], problems: [.notFound]),
    ]
}
