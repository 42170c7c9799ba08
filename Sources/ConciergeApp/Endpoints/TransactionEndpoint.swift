import API
import HTTPServer
import JSONDocument
import Sessions

/// Several writes and commands to a session's services, all or nothing.
struct TransactionEndpoint: Sendable {
    let catalog: ServiceCatalog
    let caller: SessionCaller

    /// Bounds the work of a request. No form needs so many at once.
    static let maximumOperations = 100

    func add(to routes: inout RouterBuilder) {
        routes.on(.post, "/v1/sessions/{session}/transactions", handler: caller.inPath.task(commit))
    }

    @Sendable private func commit(_ request: HTTPRequest, _ found: FoundSession) async throws -> HTTPResponse {
        let body = try BodyMembers(request, known: ["operations"])
        guard let list = body["operations"]?.elements, (1...Self.maximumOperations).contains(list.count) else {
            throw Problem(
                .invalidInput,
                errors: [
                    JSONViolation(
                        pointer: "/operations", detail: "must be an array of 1 to \(Self.maximumOperations) operations")
                ])
        }
        let operations = try read(list)
        let response = UnitResponse(to: request) { (outcomes: [ServiceOperation.Outcome]) in
            request.minimized(
                .json { json in
                    json.objects("results", outcomes) { json, outcome in
                        json.member("service", outcome.service.name)
                        json.member("etag", outcome.etag.description)
                        if let output = outcome.output { json.member("output", output) }
                    }
                })
        }
        do {
            return try response.of(await found.session.perform(operations, once: response.once))
        } catch let error as SessionError {
            guard case .inOperation(let index, _) = error, case .call(let command, _) = operations[index].action,
                !command.languages.isEmpty
            else { throw error }
            throw Problem(error).translated(to: command.languages, for: request)
        }
    }

    /// Collects every mistake of every operation.
    private func read(_ list: [JSONDocument]) throws(Problem) -> [ServiceOperation] {
        var operations: [ServiceOperation] = []
        var errors: [JSONViolation] = []
        for (index, document) in list.enumerated() {
            do throws(Problem) {
                operations.append(try operation(document, at: "/operations/\(index)"))
            } catch {
                errors += error.errors
            }
        }
        guard errors.isEmpty else { throw Problem(.invalidInput, errors: errors) }
        return operations
    }

    private func operation(_ document: JSONDocument, at pointer: String) throws(Problem) -> ServiceOperation {
        func invalid(_ member: String, _ detail: String) -> Problem {
            Problem(.invalidInput, errors: [JSONViolation(pointer: "\(pointer)/\(member)", detail: detail)])
        }
        let members = try RequestBody.members(
            of: document, at: pointer, known: ["op", "service", "command", "value", "if_match", "journey"])
        guard let name = members["service"]?.string else { throw invalid("service", "must name a service") }
        guard let service = catalog[name], service.isShown(to: .client) else {
            throw invalid("service", "there is no service of that name")
        }
        let value = members["value"]
        let action: ServiceOperation.Action
        switch members["op"]?.string {
        case "put": action = .put(try value.orThrow(invalid("value", "is required for put")))
        case "patch":
            let patch = try value.orThrow(invalid("value", "is required for patch"))
            // A merge patch of a service is an object and a JSON Patch an array, so the value shows which it is.
            action = patch.kind == .array ? .jsonPatch(patch) : .mergePatch(patch)
        case "clear": action = .clear
        case "remove": action = .remove
        case "call":
            guard let name = members["command"]?.string else { throw invalid("command", "must name a command") }
            let command: ServiceCommand
            do {
                command = try service.command(named: name)
            } catch {
                throw invalid("command", error.description)
            }
            guard !command.isWaiting else {
                throw invalid(
                    "command", "waits for something, so it cannot be a part of a transaction: call it by itself")
            }
            action = .call(command, value)
        default: throw invalid("op", "must be \"put\", \"patch\", \"clear\", \"remove\" or \"call\"")
        }
        if members.keys.contains("command"), members["op"] != "call" { throw invalid("command", "is for call only") }
        var condition = WriteCondition.none
        if let expected = members["if_match"] {
            guard let text = expected.string, let match = Self.match(text) else {
                throw invalid("if_match", "must be an entity tag such as \"\\\"7\\\"\", or \"*\"")
            }
            condition.ifMatch = match
        }
        if let journey = members["journey"], journey.string == nil {
            throw invalid("journey", "must be the id of a journey")
        }
        return ServiceOperation(action, on: service, condition: condition, journey: members["journey"]?.string)
    }

    /// What `If-Match` may say, or an entity tag without its quotes, which is easier to write in JSON.
    private static func match(_ text: String) -> WriteCondition.Match? {
        guard text != "*", !text.contains("\"") else {
            return EntityTagList(parsing: ArraySlice(text.utf8), ServiceETag.init(opaque:)).map(
                WriteCondition.Match.init)
        }
        return text.isEmpty ? nil : .oneOf(ServiceETag(opaque: text).map { [$0] } ?? [])
    }
}

extension Optional {
    fileprivate func orThrow<Failure: Error>(_ error: @autoclosure () -> Failure) throws(Failure) -> Wrapped {
        guard let self else { throw error() }
        return self
    }
}

extension TransactionEndpoint {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/transactions", id: "commitTransaction",
            summary: "Several writes and commands, all or nothing", parameters: [.idempotencyKey, .prefer],
            body: .json("Transaction"),
            responses: [
                .json("The new versions, and what commands gave.", "TransactionResults"),
                .minimal,
            ],
            problems: [
                .invalidState, .invalidPatch, .patchConflict, .preconditionFailed, .stateTooLarge,
                .preconditionRequired, .contention, .storageFull, .commandRefused,
            ])
    ]
}
