import API
import Configuration
import HTTPServer
import JSONDocument

/// Reads the configuration, the service files and the flow files again.
struct ReloadEndpoint: Sendable {
    let reload: @Sendable () async throws -> Reload

    func add(to routes: inout RouterBuilder) {
        routes.on(.post, "/v1/reload", respond)
    }

    /// All journeys may have to be looked at.
    struct Patience: HTTPMiddleware {
        func respond(to request: HTTPRequest, next: @escaping HTTPHandler) throws -> HTTPOutcome {
            request.bePatient()
            return try next(request)
        }
    }

    private func respond(_ request: HTTPRequest) async throws -> HTTPResponse {
        let reload: Reload
        do {
            reload = try await self.reload()
        } catch let refusal as ReloadRefused {
            throw Problem(.reloadRefused, members: [("errors", JSONDocument(refusal.findings.map(\.document)))])
        }
        return .json { json in
            json.object("flows") { json in
                json.versions("added", reload.flows.added)
                json.versions("changed", reload.flows.changed)
                json.versions("removed", reload.flows.removed)
            }
            json.object("services") { json in
                json.strings("added", reload.services.added)
                json.strings("changed", reload.services.changed)
                json.strings("removed", reload.services.removed)
            }
            json.strings("configuration", reload.configuration)
            json.strings("needs_restart", reload.needsRestart)
            json.array("warnings") { json in
                for warning in reload.warnings { json.document(warning.document) }
            }
        }
    }
}

extension JSONWriter {
    fileprivate mutating func versions(_ name: StaticString, _ flows: [Reload.FlowVersion]) {
        objects(name, flows) { json, flow in
            json.member("flow", flow.flow)
            json.member("version", flow.version)
        }
    }

    fileprivate mutating func strings(_ name: StaticString, _ texts: [String]) {
        array(name) { json in
            for text in texts { json.string(text) }
        }
    }
}

extension ConfigurationProblem {
    /// The parts of its line in the output of `concierge check`.
    fileprivate var document: JSONDocument {
        [
            "place": JSONDocument("\(origin)"), "severity": JSONDocument(severity.rawValue),
            "pointer": JSONDocument(pointer), "code": JSONDocument(code), "detail": JSONDocument(message),
        ]
    }
}

extension ReloadEndpoint {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/reload", id: "reload",
            summary: "Reads the configuration, the service files and the flow files again, and takes over what can be",
            parameters: [.idempotencyKey],
            responses: [.json("What has changed, and what needs a restart.", "Reload")],
            problems: [.reloadRefused])
    ]
}
