import API
import Configuration
import HTTPServer
import JSONDocument
import Operations

/// The endpoints of both listeners that need no credential: health, version, the problems, the schemas of files.
struct ProgramEndpoints: Sendable {
    let readiness: Readiness

    /// These do not count towards a quota.
    func addHealth(to routes: inout RouterBuilder) {
        routes.on(.get, "/", version)
        routes.on(.get, "/health/alive") { _ in
            .json { $0.member("status", "alive") }
        }
        routes.on(.get, "/health/ready", ready)
    }

    func add(to routes: inout RouterBuilder) {
        routes.on(.get, "/version", version)
        routes.on(.get, "/problems/{code}", explain)
        for schema in FileSchema.allCases {
            let file = LazyRepresentation { Representation(MediaType.json, schema.document.serialized()) }
            routes.on(.get, Self.path(of: schema)) { try file.value.answer(to: $0) }
        }
    }

    private func version(_ request: HTTPRequest) async throws -> HTTPResponse {
        .json { json in
            json.member("name", BuildInformation.name)
            json.member("version", BuildInformation.version)
            json.member("libmicrohttpd", HTTPServer.libraryVersion)
        }
    }

    private func ready(_ request: HTTPRequest) async throws -> HTTPResponse {
        let checks = readiness.checks
        let isReady = checks.allSatisfy { $0.failure == nil }
        var response = HTTPResponse.json(isReady ? .ok : .serviceUnavailable) { json in
            json.member("status", isReady ? "ready" : "not_ready")
            json.objects("checks", checks) { json, check in
                json.member("name", check.name)
                json.member("status", check.failure == nil ? "ok" : "failed")
                if let failure = check.failure { json.member("detail", failure) }
            }
        }
        if !isReady { response.fields.add(.retryAfter, "1") }
        return response
    }

    private func explain(_ request: HTTPRequest) async throws -> HTTPResponse {
        guard let kind = ProblemKind.named(request.parameter("code")) else {
            throw Problem(.notFound, "There is no kind of problem with that code.")
        }
        return .json { json in
            json.member("type", kind.type(under: request.basePath))
            json.member("code", kind.code)
            json.member("status", Int(kind.status.code))
            json.member("title", kind.title)
            json.member("explanation", kind.explanation)
        }
    }
}

extension ProgramEndpoints {
    static let operations: [APIOperation] =
        [
            APIOperation(
                method: .get, path: "/", id: "getRoot",
                summary: "The same as /version, for health checks that know no other path", access: .anyone,
                responses: [.json("Name and version.", "ProgramVersion")]),
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
                responses: [.json("Name and version.", "ProgramVersion")]),
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
                    .json("The schema.", "JSONObject", headers: [.etag]),
                    .unchanged,
                ], problems: [.invalidCondition])
        }

    static func path(of schema: FileSchema) -> String { "/schemas/\(schema.rawValue).json" }
}
