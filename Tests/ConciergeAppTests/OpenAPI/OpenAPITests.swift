import HTTPServer
import JSONDocument
import Support
import Testing

@testable import ConciergeApp

@Suite("The description of the API")
struct OpenAPITests {
    @Test("has exactly the operations that the listener's router has", arguments: APIListener.allCases)
    func isComplete(listener: APIListener) async throws {
        var configuration = Configuration()
        configuration.store = .memory
        let application = try Application(configuration)
        let router: Router
        switch listener {
        case .public: router = try await application.publicRoutes()
        case .admin:
            router = try await application.adminRoutes(
                publicRoutes: try await application.publicRoutes(), connections: ConnectionCounts()
            ).router
        }
        let served = Set(router.routes.map { "\($0.method) \($0.pattern.text)" })
        let document = try document(of: listener)
        let described = try paths(of: document).flatMap { path in
            try #require(path.value.members).map { "\($0.name.uppercased()) \(path.name)" }
        }
        #expect(Set(described) == served)
        #expect(described.count == served.count)
    }

    @Test(
        "refers to nothing that is not there",
        arguments: APIListener.allCases)
    func refersToWhatIsThere(listener: APIListener) throws {
        let document = try document(of: listener)
        var references: Set<String> = []
        collectReferences(in: document, into: &references)
        #expect(!references.isEmpty)
        for reference in references {
            #expect(reference.hasPrefix("#"))
            let pointer = try #require(JSONPointer(parsing: String(reference.dropFirst())))
            #expect(document.value(at: pointer) != nil, "\(reference) leads nowhere")
        }
    }

    @Test("has no schema that nothing refers to")
    func schemasAreUsed() throws {
        var references: Set<String> = []
        for listener in APIListener.allCases {
            collectReferences(in: try document(of: listener), into: &references)
        }
        // The states of services have no reference, because a path has any of them.
        for schema in APISchema.allCases where ![.profile, .quote, .user].contains(schema) {
            #expect(references.contains("#/components/schemas/\(schema.rawValue)"), "\(schema)")
        }
    }

    @Test("names every kind of problem, and the status of each of them among the answers")
    func namesEveryProblem() throws {
        var statuses: Set<String> = []
        for listener in APIListener.allCases {
            let document = try document(of: listener)
            let codes = document.value(
                at: JSONPointer(["components", "schemas", "Problem", "properties", "code", "enum"]))
            #expect(codes?.elements?.compactMap(\.string) == ProblemKind.all.map(\.code))
            for operation in try operations(of: document) {
                statuses.formUnion((operation[member: "responses"]?.members ?? []).map(\.name))
            }
        }
        for kind in ProblemKind.all { #expect(statuses.contains("\(kind.status.code)"), "\(kind.code)") }
    }

    @Test(
        "gives each operation a name of its own, and each parameter of a path its place",
        arguments: APIListener.allCases)
    func describesParameters(listener: APIListener) throws {
        let document = try document(of: listener)
        let names = try operations(of: document).map { $0[member: "operationId"]?.string ?? "" }
        #expect(Set(names).count == names.count)
        for path in try paths(of: document) {
            let wanted = path.name.split(separator: "/").filter { $0.hasPrefix("{") }.map { $0.dropFirst().dropLast() }
            for operation in try #require(path.value.members) {
                let parameters = operation.value[member: "parameters"]?.elements ?? []
                let names = try parameters.map { parameter in
                    let reference = try #require(parameter[member: "$ref"]?.string)
                    let pointer = try #require(JSONPointer(parsing: String(reference.dropFirst())))
                    let described = try #require(document.value(at: pointer))
                    // Generated clients have them in the order of the path, those with defaults behind those without.
                    if described[member: "in"] == "path", wanted.count > 1 {
                        #expect(described[member: "schema"]?[member: "default"] == nil, "\(path.name)")
                    }
                    return described[member: "name"]?.string ?? ""
                }
                #expect(Set(wanted.map(String.init)).isSubset(of: names), "\(path.name)")
            }
        }
    }

    @Test("has the schemas and the defaults that the built-in services have")
    func showsServices() throws {
        let document = try document(of: .public)
        let profile = document.value(at: JSONPointer(["components", "schemas", "Profile"]))
        #expect(profile?[member: "default"] == ["name": "", "email": nil, "locale": nil, "attributes": .emptyObject])
        #expect(profile?[member: "required"]?.count == 4)
    }

    @Test("says of each body in which unknown members are refused that they are")
    func closedBodies() throws {
        for name in [
            "NewSession", "SessionPatch", "SignIn", "Transaction", "NewJourney", "JourneyRestart", "JourneyEvent",
            "JourneyNavigation", "ExportStart",
        ] {
            let schema = try document(of: .admin).value(at: JSONPointer(["components", "schemas", name]))
            #expect(schema?[member: "additionalProperties"] == false, "\(name)")
        }
    }

    @Test(
        "has a pattern for Idempotency-Key that fits what the server takes, and nothing else",
        arguments: [
            "a", #""a""#, "8e03978e-40d5-43dd-bc93-6894a57f9324", #""a,b""#, #""a\"b""#, #""a\\b""#, "a;b=c", "a\\b",
            "~!#+-",
            String(repeating: "k", count: 255), "\"" + String(repeating: "k", count: 255) + "\"",
            "", " ", #""""#, #"""#, #""a"#, #"a""#, #""a"b"#, #""a", "b""#, "a,b", "a b", #""a b""#, "a\u{7F}",
            "schlüssel",
            #""a\b""#, #""a\"#, String(repeating: "k", count: 256), "\"" + String(repeating: "k", count: 256) + "\"",
        ])
    func keyPattern(key: String) throws {
        let schema = try #require(
            try document(of: .public).value(
                at: JSONPointer(["components", "parameters", "Idempotency-Key", "schema"])))
        let fits = try JSONSchema(schema).violations(in: JSONDocument(key)).isEmpty
        #expect(fits == (IdempotencyKey(Array(key.utf8)) != nil))
    }

    @Test(
        "describes bodies of several types so that generated clients can tell them apart: by classes, or not at all",
        arguments: APIListener.allCases)
    func bodiesOfSeveralTypes(listener: APIListener) throws {
        let document = try document(of: listener)
        for operation in try operations(of: document) {
            let contents = operation[member: "requestBody"]?[member: "content"]?.members ?? []
            guard contents.count > 1 else { continue }
            for (type, content) in contents {
                guard let reference = content[member: "schema"]?[member: "$ref"]?.string else {
                    #expect(content[member: "example"] != nil)
                    continue
                }
                let schema = document.value(at: try #require(JSONPointer(parsing: String(reference.dropFirst()))))
                let kind = schema?[member: "type"]
                #expect(kind == "object" || kind == "string", "\(operation[member: "operationId"] ?? .null) \(type)")
            }
        }
    }

    @Test("names where it is served, and the caller's own session as the default")
    func defaults() throws {
        let document = try document(of: .public)
        #expect(document[member: "servers"]?.elements?.first?[member: "url"] == "/")
        let session = document.value(at: JSONPointer(["components", "parameters", "session", "schema", "default"]))
        #expect(session == "current")
    }

    @Test("is there for everybody, on both listeners")
    func isServed() async throws {
        try await withApplication { running in
            for (client, listener) in [(running.client(), APIListener.public), (running.admin(), .admin)] {
                let response = try await client.get("/openapi.json")
                #expect(response.status == 200)
                #expect(response["Content-Type"] == "application/json")
                #expect(try response.json == document(of: listener))
            }
        }
    }

    private func document(of listener: APIListener) throws -> JSONDocument {
        try JSONDocument(parsing: OpenAPIDocument(listener: listener).bytes)
    }

    private func paths(of document: JSONDocument) throws -> [(name: String, value: JSONDocument)] {
        try #require(document[member: "paths"]?.members)
    }

    private func operations(of document: JSONDocument) throws -> [JSONDocument] {
        try paths(of: document).flatMap { try #require($0.value.members).map(\.value) }
    }

    private func collectReferences(in document: JSONDocument, into references: inout Set<String>) {
        for (name, value) in document.members ?? [] {
            if name == "$ref", let text = value.string { references.insert(text) }
            collectReferences(in: value, into: &references)
        }
        for element in document.elements ?? [] { collectReferences(in: element, into: &references) }
    }
}
