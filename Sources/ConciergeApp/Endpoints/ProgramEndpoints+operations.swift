import API
import Configuration
import HTTPServer

extension ProgramEndpoints {
    static let operations: [APIOperation] =
        [
            APIOperation(
                method: .get, path: "/health/alive", id: "getAlive", summary: "Whether the process responds",
                access: .anyone, responses: [.json("It does.", "Alive")]),
            APIOperation(
                method: .get, path: "/health/ready", id: "getReady", summary: "Whether the server is ready for traffic",
                access: .anyone,
                responses: [
                    .json("It does.", "Readiness"),
                    .json(
                        "Not ready; the failing check says why.", "Readiness", status: .serviceUnavailable,
                        headers: [.retryAfter]),
                ]),
            APIOperation(
                method: .get, path: "/version", id: "getVersion", summary: "The name and version of the program",
                access: .anyone,
                responses: [.json("Name and version.", "Version")]),
            APIOperation(
                method: .get, path: "/problems/{code}", id: "explainProblem", summary: "Explains a kind of problem",
                access: .anyone, responses: [.json("The explanation.", "ProblemExplanation")], problems: [.notFound]),
        ]
        + FileSchema.allCases.map { schema in
            let name = schema.rawValue.prefix(1).uppercased() + schema.rawValue.dropFirst()
            return APIOperation(
                method: .get, path: path(of: schema), id: "get\(name)Schema",
                summary: "The JSON Schema (draft 7) of a \(schema.rawValue) file, for editors", access: .anyone,
                parameters: [.ifNoneMatch],
                responses: [
                    .json("The schema.", "AnyObject", headers: [.etag]),
                    APIResponse(status: .notModified, meaning: "The client has it already.", headers: [.etag]),
                ], problems: [.invalidCondition])
        }

    static func path(of schema: FileSchema) -> String { "/schemas/\(schema.rawValue).json" }
}
