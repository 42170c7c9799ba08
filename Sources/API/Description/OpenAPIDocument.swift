import HTTPServer
import JSONDocument
import Navigation
import Sessions

/// Writes the OpenAPI 3.1 document of a listener from the operations of the endpoints.
package struct OpenAPIDocument {
    /// An operation under its heading; one on a service also with the operation on any service, and what it is on.
    private struct Described {
        let tag: String
        let operation: APIOperation
        var subject: Subject?
    }

    private struct Subject {
        let general: APIOperation
        let service: LoadedSchemas.Service
        var command: LoadedSchemas.Command?

        /// The name of what stands for its schemas in a body.
        func name(of schema: APISchema, isRequest: Bool) -> String? {
            switch schema {
            case .serviceState: isRequest ? service.written : service.name
            case .servicePatch: service.patch
            case .commandInput: command?.input
            case .commandOutput: command?.output
            default: nil
            }
        }
    }

    let listener: APIListener
    private let version: String
    private let groups: [APIGroup]
    private let general: APIComponents
    private let loaded: LoadedSchemas
    /// Those on services once for each service.
    private let operations: [Described]

    package init(
        listener: APIListener, version: String, groups: [APIGroup], services: [RegisteredService], flows: FlowCatalog
    ) {
        self.listener = listener
        self.version = version
        self.groups = groups
        general = APIComponents(on: listener)
        let loaded = LoadedSchemas(
            services: services, flows: flows, listener: listener, operations: groups.flatMap(\.operations),
            beside: general.schemas)
        self.loaded = loaded
        operations = groups.flatMap { group in
            group.operations.flatMap { operation -> [Described] in
                guard operation.isOnService else { return [Described(tag: group.name, operation: operation)] }
                if operation.isOnCommand {
                    return loaded.services.filter { $0.allows(operation, on: listener) }.flatMap { service in
                        service.commands.map { command in
                            Described(
                                tag: group.name, operation: command.operation(operation, of: service.service),
                                subject: Subject(general: operation, service: service, command: command))
                        }
                    }
                }
                return loaded.services.filter { $0.allows(operation, on: listener) }.map {
                    Described(
                        tag: group.name, operation: $0.operation(operation),
                        subject: Subject(general: operation, service: $0))
                }
            }
        }
    }

    package var bytes: [UInt8] {
        // With the shipped configuration the document has about 300 kB.
        var json = JSONWriter(reservingCapacity: 384 << 10)
        json.beginObject()
        json.member("openapi", "3.1.0")
        json.object("info") { info in
            info.member("title", listener == .public ? "Concierge" : "Concierge, admin listener")
            info.member("version", version)
            info.member(
                "description",
                listener == .public
                    ? "Every session has its own service locator and its own instances of services."
                    : "For operators and trusted back ends.")
        }
        json.objects("servers", [Self.root]) { server, url in
            server.member("url", url)
            server.member("description", "The listener that this description was read from.")
        }
        json.objects("tags", groups) { tag, group in
            tag.member("name", group.name)
            tag.member("description", group.meaning)
        }
        json.object("paths", paths)
        json.object("components", components)
        json.endObject()
        return json.bytes
    }

    private static let root = "/"

    /// The document for clients whose addresses begin with the base path.
    package static func bytes(_ bytes: [UInt8], under basePath: String) -> [UInt8] {
        // Nothing before it is another's.
        guard let place = bytes.firstRange(of: Array("\"url\":\"\(root)\"".utf8)) else { return bytes }
        var bytes = bytes
        bytes.replaceSubrange(place, with: "\"url\":\(basePath.inJSON)".utf8)
        return bytes
    }

    private func paths(_ json: inout JSONWriter) {
        var paths = Dictionary(grouping: operations, by: \.operation.path)
        for path in operations.map(\.operation.path) {
            guard let described = paths.removeValue(forKey: path) else { continue }
            json.name(path)
            json.object { json in
                for described in described {
                    json.name(described.operation.method.description.lowercased())
                    json.object { write(described, to: &$0) }
                }
            }
        }
    }

    private func write(_ described: Described, to json: inout JSONWriter) {
        let (tag, operation, subject) = (described.tag, described.operation, described.subject)
        json.member("operationId", operation.id)
        json.member("summary", operation.summary)
        json.array("tags") { $0.string(tag) }
        json.array("parameters") { json in
            for parameter in operation.pathParameters + operation.parameters + [.requestID] {
                json.reference("parameters", Self.name(ofParameter: operation.componentName(of: parameter)))
            }
        }
        if let body = operation.body {
            json.object("requestBody") { json in
                json.member("required", body.isRequired)
                json.contents(body.contents) { subject?.name(of: $0, isRequest: true) }
            }
        }
        let problems = operation.problems(on: listener)
        json.object("responses") { json in
            for var response in operation.responses {
                if operation.parameters.contains(.idempotencyKey) { response.headers.append(.idempotencyReplayed) }
                json.name(String(response.status.code))
                write(response, problems.filter { $0.status == response.status }, of: subject, to: &json)
            }
            let answered = operation.responses.map(\.status)
            for status in statuses(of: problems) where !answered.contains(status) {
                let kinds = problems.filter { $0.status == status }
                json.name(String(status.code))
                if kinds.allSatisfy(APIOperation.canHappenAnywhere) {
                    json.reference("responses", String(status.code))
                } else if let general = subject?.general {
                    json.reference("responses", Self.shared(status, general))
                } else {
                    write(status, kinds, isPatch: operation.method == .patch, to: &json)
                }
            }
        }
        json.array("security") { json in
            guard operation.access == .caller else { return }
            for alternative in security { json.document(alternative) }
        }
    }

    /// - Parameter problems: problems with the same status, such as 503 while the server is not ready.
    private func write(
        _ answer: APIResponse, _ problems: [ProblemKind], of subject: Subject?, to json: inout JSONWriter
    ) {
        json.beginObject()
        json.member("description", ([answer.meaning] + problems.map(explanation(of:))).joined(separator: "\n\n"))
        json.headers([.requestID] + answer.headers)
        json.contents(answer.contents + (problems.isEmpty ? [] : Self.problem)) {
            subject?.name(of: $0, isRequest: false)
        }
        json.endObject()
    }

    private func write(_ status: HTTPStatus, _ kinds: [ProblemKind], isPatch: Bool = false, to json: inout JSONWriter) {
        json.beginObject()
        json.member("description", kinds.map(explanation(of:)).joined(separator: "\n\n"))
        json.headers([.requestID] + headers(of: status, isPatch: isPatch))
        json.contents(Self.problem)
        json.endObject()
    }

    /// The name of a parameter in this document. Some generators make a type of each, and `flow` would be `Flow`.
    private static func name(ofParameter name: String) -> String { "\(name)-parameter" }

    static var parameterNames: [String] {
        (APIParameter.allCases.map(\.rawValue) + APIParameter.Form.allCases.map(\.rawValue)).map(name(ofParameter:))
    }

    /// The name of a response that an operation has on every service.
    private static func shared(_ status: HTTPStatus, _ operation: APIOperation) -> String {
        "\(operation.id).\(status.code)"
    }

    private func headers(of status: HTTPStatus, isPatch: Bool) -> [APIHeader] {
        switch status {
        case .unauthorized: [.wwwAuthenticate]
        case .methodNotAllowed: [.allow]
        case .conflict, .serviceUnavailable: [.retryAfter]
        case .preconditionFailed: [.etag]
        case .tooManyRequests: [.retryAfter, .rateLimit, .rateLimitPolicy]
        case .unsupportedMediaType: (isPatch ? [.acceptPatch] : []) + [.acceptEncoding]
        default: []
        }
    }

    private static let problem: [(mediaType: String, schema: APISchema?)] = [(Problem.mediaType, .problem)]

    /// Short, because it is a part of every operation; `GET /problems/{code}` has more.
    private func explanation(of kind: ProblemKind) -> String { "`\(kind.code)`: \(kind.title)." }

    private func statuses(of kinds: [ProblemKind]) -> [HTTPStatus] {
        Set(kinds.map(\.status)).sorted { $0.code < $1.code }
    }

    /// Any one of these suffices.
    private var security: [JSONDocument] {
        switch listener {
        case .public: [["bearer": []], ["cookie": []]]
        // Without a configured key the listener is on loopback and requires none.
        case .admin: [["adminKey": []], ["bearer": []], [:]]
        }
    }

    private func components(_ json: inout JSONWriter) {
        json.object("schemas") { json in
            for (name, document) in schemas {
                json.name(name)
                json.document(document)
            }
        }
        json.object("responses") { json in
            for status in statuses(of: APIOperation.ofTransport) {
                json.name(String(status.code))
                write(status, APIOperation.ofTransport.filter { $0.status == status }, to: &json)
            }
            func isCalled(_ operation: APIOperation) -> Bool {
                loaded.services.contains { !$0.commands.isEmpty && $0.allows(operation, on: listener) }
            }
            for operation in groups.flatMap(\.operations)
            where operation.isOnService && (!operation.isOnCommand || isCalled(operation)) {
                let problems = operation.problems(on: listener)
                for status in statuses(of: problems.filter { !APIOperation.canHappenAnywhere($0) }) {
                    let kinds = problems.filter { $0.status == status }
                    json.name(Self.shared(status, operation))
                    write(status, kinds, isPatch: operation.method == .patch, to: &json)
                }
            }
        }
        let used = operations.map(\.operation).flatMap { operation in
            (operation.pathParameters + operation.parameters).map { operation.componentName(of: $0) }
        }
        json.object("parameters") { json in
            for name in Set(used + [APIParameter.requestID.rawValue]).sorted() {
                // A client may leave out the id of its own session.
                let described = listener == .public && name.hasPrefix("session") ? "own-\(name)" : name
                json.name(Self.name(ofParameter: name))
                json.document(general.parameters[member: described] ?? .null)
            }
        }
        json.member("headers", general.headers)
        json.member("securitySchemes", general.securitySchemes)
    }

    /// The schemas that operations of this listener name, and those that these refer to.
    private var schemas: [(name: String, document: JSONDocument)] {
        let all =
            (general.schemas.members ?? []).map { (name: $0.name, document: loaded.replaced[$0.name] ?? $0.value) }
            + loaded.components
        let byName = Dictionary(all.map { ($0.name, $0.document) }, uniquingKeysWith: { first, _ in first })
        var used: Set<String> = []
        func use(_ name: String) {
            guard used.insert(name).inserted, let document = byName[name] else { return }
            SchemaComponents.references(in: document).forEach(use)
        }
        use(APISchema.problem.name)
        for described in operations {
            func useAll(_ contents: [(mediaType: String, schema: APISchema?)], isRequest: Bool) {
                for schema in contents.compactMap(\.schema) {
                    use(described.subject?.name(of: schema, isRequest: isRequest) ?? schema.name)
                }
            }
            useAll(described.operation.body?.contents ?? [], isRequest: true)
            for response in described.operation.responses { useAll(response.contents, isRequest: false) }
        }
        return all.filter { used.contains($0.name) }
    }
}

extension JSONWriter {
    /// `{"$ref": …}` to one of the components.
    mutating func reference(_ section: String, _ name: String) {
        beginObject()
        member("$ref", "#/components/\(section)/\(name)")
        endObject()
    }

    mutating func headers(_ headers: [APIHeader]) {
        object("headers") { json in
            for header in headers {
                json.name(header.rawValue)
                json.reference("headers", header.rawValue)
            }
        }
    }

    /// Bodies by their media types; nothing without any.
    /// - Parameter name: of what stands for the schemas of each service.
    mutating func contents(
        _ contents: [(mediaType: String, schema: APISchema?)], named name: (APISchema) -> String? = { _ in nil }
    ) {
        guard !contents.isEmpty else { return }
        object("content") { json in
            for (mediaType, schema) in contents {
                json.name(mediaType)
                json.object { json in
                    if let schema {
                        json.name("schema")
                        json.reference("schemas", (schema.isOfEachService ? name(schema) : nil) ?? schema.name)
                    } else {
                        // Clients of openapi-python-client fail on an array among several types of a body, and leave
                        // out a type without a schema. So JSON Patch has an example only.
                        json.member("example", [["op": "replace", "path": "/name", "value": "Ada"]])
                    }
                }
            }
        }
    }
}
