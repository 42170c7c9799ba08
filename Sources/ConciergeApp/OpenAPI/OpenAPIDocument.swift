import HTTPServer
import JSONDocument

/// Writes the OpenAPI 3.1 document of a listener from the operations of the endpoints.
struct OpenAPIDocument {
    let listener: APIListener
    private let groups: [APIGroup]

    init(listener: APIListener) {
        self.listener = listener
        groups = APIGroup.all(on: listener)
    }

    var bytes: [UInt8] {
        // The document has about 100 kB.
        var json = JSONWriter(reservingCapacity: 128 << 10)
        json.beginObject()
        json.member("openapi", "3.1.0")
        json.object("info") { info in
            info.member("title", listener == .public ? "Concierge" : "Concierge, admin listener")
            info.member("version", BuildInformation.version)
            info.member(
                "description",
                listener == .public
                    ? "Every session has its own service locator and its own instances of services."
                    : "For operators and trusted back ends.")
        }
        json.array("servers") { servers in
            servers.beginObject()
            servers.member("url", "/")
            servers.member("description", "The listener that this description was read from.")
            servers.endObject()
        }
        json.array("tags") { tags in
            for group in groups {
                tags.beginObject()
                tags.member("name", group.name)
                tags.member("description", group.meaning)
                tags.endObject()
            }
        }
        json.object("paths", paths)
        json.object("components", components)
        json.endObject()
        return json.bytes
    }

    private func paths(_ json: inout JSONWriter) {
        let tagged = groups.flatMap { group in group.operations.map { (tag: group.name, operation: $0) } }
        var order: [String] = []
        for (_, operation) in tagged where !order.contains(operation.path) { order.append(operation.path) }
        for path in order {
            json.object(path) { json in
                for (tag, operation) in tagged where operation.path == path {
                    json.object(operation.method.description.lowercased()) { json in
                        write(operation, tag: tag, to: &json)
                    }
                }
            }
        }
    }

    private func write(_ operation: APIOperation, tag: String, to json: inout JSONWriter) {
        json.member("operationId", operation.id)
        json.member("summary", operation.summary)
        json.array("tags") { $0.string(tag) }
        json.array("parameters") { json in
            for parameter in operation.pathParameters + operation.parameters + [.requestID] {
                json.reference("parameters", operation.component(of: parameter))
            }
        }
        if let body = operation.body {
            json.object("requestBody") { json in
                json.name("required")
                json.bool(body.isRequired)
                json.contents(body.contents)
            }
        }
        let problems = operation.problems(on: listener)
        json.object("responses") { json in
            for response in operation.responses {
                write(response, problems.filter { $0.status == response.status }, to: &json)
            }
            let described = operation.responses.map(\.status)
            for status in statuses(of: problems) where !described.contains(status) {
                let kinds = problems.filter { $0.status == status }
                json.name(String(status.code))
                if kinds.allSatisfy(APIOperation.canHappenAnywhere) {
                    json.reference("responses", String(status.code))
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
    private func write(_ answer: APIResponse, _ problems: [ProblemKind], to json: inout JSONWriter) {
        json.object(String(answer.status.code)) { json in
            json.member("description", ([answer.meaning] + problems.map(explanation(of:))).joined(separator: "\n\n"))
            json.headers([.requestID] + answer.headers)
            json.contents(answer.contents + (problems.isEmpty ? [] : Self.problem))
        }
    }

    private func write(_ status: HTTPStatus, _ kinds: [ProblemKind], isPatch: Bool = false, to json: inout JSONWriter) {
        json.beginObject()
        json.member("description", kinds.map(explanation(of:)).joined(separator: "\n\n"))
        json.headers([.requestID] + headers(of: status, isPatch: isPatch))
        json.contents(Self.problem)
        json.endObject()
    }

    private func headers(of status: HTTPStatus, isPatch: Bool) -> [APIHeader] {
        switch status {
        case .unauthorized: [.wwwAuthenticate]
        case .methodNotAllowed: [.allow]
        case .conflict, .serviceUnavailable: [.retryAfter]
        case .preconditionFailed: [.etag]
        case .unsupportedMediaType: (isPatch ? [.acceptPatch] : []) + [.acceptEncoding]
        default: []
        }
    }

    private static let problem: [(mediaType: String, schema: APISchema?)] = [("application/problem+json", .problem)]

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
            for schema in APISchema.allCases {
                json.name(schema.rawValue)
                json.document(schema.document)
            }
        }
        json.object("responses") { json in
            for status in statuses(of: APIOperation.ofTransport) {
                json.name(String(status.code))
                write(status, APIOperation.ofTransport.filter { $0.status == status }, to: &json)
            }
        }
        let operations = groups.flatMap(\.operations)
        let used = Set(operations.flatMap { $0.pathParameters + $0.parameters } + [.requestID])
        json.object("parameters") { json in
            for parameter in APIParameter.allCases where used.contains(parameter) {
                json.name(parameter.rawValue)
                parameter.write(to: &json, on: listener)
            }
            json.name(APIParameter.sessionBeforeOthers)
            APIParameter.session.write(to: &json, on: listener, hasDefault: false)
        }
        json.object("headers") { json in
            for header in APIHeader.allCases {
                json.name(header.rawValue)
                header.write(to: &json)
            }
        }
        json.object("securitySchemes") { json in
            for (name, scheme) in securitySchemes {
                json.name(name)
                json.document(scheme)
            }
        }
    }

    private var securitySchemes: [(String, JSONDocument)] {
        switch listener {
        case .public:
            [
                (
                    "bearer",
                    [
                        "type": "http", "scheme": "bearer",
                        "description": "The token of POST /v1/sessions: `cg_…`.",
                    ]
                ),
                (
                    "cookie",
                    [
                        "type": "apiKey", "in": "cookie", "name": "__Host-concierge",
                        "description":
                            "Set by POST /v1/sessions in cookie mode. Its name is `concierge` if `cookie.secure` is false.",
                    ]
                ),
            ]
        case .admin:
            [
                ("adminKey", ["type": "apiKey", "in": "header", "name": "X-Admin-Key"]),
                ("bearer", ["type": "http", "scheme": "bearer", "description": "The same key."]),
            ]
        }
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
    mutating func contents(_ contents: [(mediaType: String, schema: APISchema?)]) {
        guard !contents.isEmpty else { return }
        object("content") { json in
            for (mediaType, schema) in contents {
                json.object(mediaType) { json in
                    if let schema {
                        json.name("schema")
                        json.reference("schemas", schema.rawValue)
                    } else {
                        // Clients of openapi-python-client fail on an array among several types of a body, and leave
                        // out a type without a schema. So JSON Patch has an example only.
                        json.name("example")
                        json.document([["op": "replace", "path": "/name", "value": "Ada"]])
                    }
                }
            }
        }
    }
}
