import HTTPServer

extension ProgramEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/health/alive", id: "getAlive", summary: "Whether the process answers",
            access: .anyone, answers: [.json("It does.", .alive)]),
        APIOperation(
            method: .get, path: "/health/ready", id: "getReady", summary: "Whether the server wants traffic",
            access: .anyone,
            answers: [
                .json("It does.", .readiness),
                .json(
                    "Not now; the failing check says why.", .readiness, status: .serviceUnavailable,
                    headers: [.retryAfter]),
            ]),
        APIOperation(
            method: .get, path: "/version", id: "getVersion", summary: "Which program this is", access: .anyone,
            answers: [.json("Name and version.", .version)]),
        APIOperation(
            method: .get, path: "/problems/{code}", id: "explainProblem", summary: "What a kind of problem means",
            access: .anyone, answers: [.json("The explanation.", .problemExplanation)], problems: [.notFound]),
    ]
}
