import HTTPServer
import JSONDocument
import Sessions
import Support
import Testing

@testable import API
@testable import ConciergeApp
@testable import Configuration
@testable import Operations

@Suite("The description of the API")
struct OpenAPITests {
    @Test("has exactly the operations that the listener's router has", arguments: APIListener.allCases)
    func isComplete(listener: APIListener) async throws {
        var configuration = Configuration()
        configuration.store = .memory
        let menu = [try ServiceFile(name: "menu", scope: .process)]
        let application = try Application(configuration, services: menu, adding: Shop.services)
        let catalog = await application.sessions.catalog
        let router =
            switch listener {
            case .public: try await application.publicRoutes(catalog)
            case .admin: try await application.adminRoutes(catalog)
            }
        // A page is no part of the API.
        let routes = router.routes.filter { !$0.pattern.text.hasPrefix("/console") }
        // The menu has no commands, and no other document of the process is there.
        let served = Set(routes.map { "\($0.method) \($0.pattern.text)" })
            .subtracting(["POST /v1/services/{name}/commands/{command}"])
        let document = try document(of: listener, services: menu, adding: Shop.services)
        let described = try paths(of: document).flatMap { path in
            // Services and commands have a path each.
            let pattern = path.name.replacing(#/services/[a-z-]+/#, with: "services/{name}")
                .replacing(#/commands/[a-z-]+/#, with: "commands/{command}")
            return try #require(path.value.members).map { "\($0.name.uppercased()) \(pattern)" }
        }
        #expect(Set(described) == served)
        let general = described.filter { !$0.contains("{name}") }
        #expect(general.count == Set(general).count)
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

    @Test("has no schema that nothing refers to, and on the public listener none of the admin's alone")
    func schemasAreUsed() throws {
        var names: [APIListener: Set<String>] = [:]
        for listener in APIListener.allCases {
            let document = try document(of: listener)
            var references: Set<String> = []
            collectReferences(in: document, into: &references)
            let described = Set(try schemas(of: document).map(\.name))
            for name in described { #expect(references.contains("#/components/schemas/\(name)"), "\(name)") }
            names[listener] = described
        }
        let file = Set(try #require(APIComponents(on: .admin).schemas.members).map(\.name))
        #expect(file.isSubset(of: names.values.reduce([]) { $0.union($1) }))
        #expect(names[.public]?.isDisjoint(with: ["SignIn", "TaskClaim", "ImportReport", "Statistics"]) == true)
        #expect(names[.admin]?.contains("ImportReport") == true)
    }

    @Test("has the limits and patterns that the endpoints check")
    func limits() throws {
        let components = APIComponents(on: .admin)
        let schemas = components.schemas
        func part(_ path: String...) -> JSONDocument? { schemas.value(at: JSONPointer(path)) }
        let operations = part("Transaction", "properties", "operations", "maxItems")
        #expect(operations?.int == TransactionEndpoint.maximumOperations)
        let stores = part("Statistics", "properties", "store", "properties", "kind", "x-extensible-enum")
        #expect(stores?.elements?.compactMap(\.string) == Configuration.Store.schemes)
        for (name, member) in [
            ("TaskClaim", "lease"), ("TaskClaim", "wait"), ("TaskLease", "lease"), ("TaskFailure", "retry_after"),
        ] {
            #expect(part(name, "properties", member, "pattern")?.string == DurationText.pattern, "\(name)")
        }
        let taskID = components.parameters.value(at: JSONPointer(["task-id", "schema", "pattern"]))
        #expect(part("ListedTask", "properties", "id", "pattern") == taskID)
        let secretKey = try #require(components.parameters[member: "Idempotency-Key-of-new-session"])
        #expect("\(secretKey)".contains("of at least \(SessionCaller.leastKeyLength) characters"))
        #expect("\(secretKey)".contains("{\(SessionCaller.leastKeyLength),255}"))
    }

    @Test("describes every parameter and header field, and nothing that is neither")
    func parametersAndHeaders() throws {
        let components = APIComponents(on: .admin)
        // Services have a path each, so the name of one is no parameter.
        let parameters = APIParameter.allCases.filter { $0 != .name }
        for parameter in parameters {
            let described = try #require(components.parameters[member: parameter.rawValue], "\(parameter)")
            #expect(described[member: "name"]?.string == parameter.rawValue)
            // A flow may be in both.
            #expect((described[member: "in"] == "query") == parameter.isInQuery || parameter == .flow, "\(parameter)")
        }
        let forms = APIParameter.Form.allCases.map(\.rawValue) + ["own-session", "own-session-before-others"]
        #expect(
            Set(components.parameters.members?.map(\.name) ?? [])
                == Set(parameters.map(\.rawValue) + forms))
        #expect(components.headers.members?.map(\.name) == APIHeader.allCases.map(\.rawValue).sorted())
    }

    @Test("names every kind of problem, and the status of each of them among the answers")
    func namesEveryProblem() throws {
        var statuses: Set<String> = []
        for listener in APIListener.allCases {
            let document = try document(of: listener)
            let codes = document.value(
                at: JSONPointer(["components", "schemas", "Problem", "properties", "code", "x-extensible-enum"]))
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
        let written = document.value(at: JSONPointer(["components", "schemas", "ProfileWrite"]))
        #expect(written?[member: "required"] == nil)
    }

    @Test("says of each body in which unknown members are refused that they are")
    func closedBodies() {
        for name in [
            "SessionCreation", "SessionPatch", "SignIn", "Transaction", "JourneyStart", "JourneyRestart",
            "JourneyEvent", "JourneyNavigation", "ExportStart",
        ] {
            let schema = APIComponents(on: .admin).schemas[member: name]
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
                at: JSONPointer(["components", "parameters", "Idempotency-Key-parameter", "schema"])))
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
        let session = document.value(
            at: JSONPointer(["components", "parameters", "session-parameter", "schema", "default"]))
        #expect(session == "current")
    }

    @Test("is there for everybody, on both listeners")
    func isServed() async throws {
        try await withApplication { running in
            for (client, listener) in [(running.client(), APIListener.public), (running.admin(), .admin)] {
                let response = try await client.get("/openapi.json")
                #expect(response.status == 200)
                #expect(response["Content-Type"] == "application/json")
                #expect(response["Content-Encoding"] == nil)
                #expect(response["Vary"] == "Accept-Encoding")
                #expect(try response.json == document(of: listener))
                let etag = try #require(response["ETag"])
                #expect(try await client.get("/openapi.json", fields: [("If-None-Match", etag)]).status == 304)
            }
        }
    }

    @Test(
        "has a path for each service with the methods that it has, on both listeners", arguments: APIListener.allCases)
    func pathsOfServices(listener: APIListener) async throws {
        try await withApplication(services: ShippedFiles.services(), flows: ShippedFiles.flows()) { running in
            let client = listener == .public ? running.client() : running.admin()
            let paths = try paths(of: try await client.get("/openapi.json").json)
                .filter { $0.name.contains("/services/") }
            #expect(paths.count > 20)
            let session = "ses_" + String(repeating: "0", count: 32)
            for (path, operations) in paths {
                let target = path.replacing("{session}", with: session).replacing("{id}", with: "main")
                let allowed = try await client.send("OPTIONS", target)["Allow"]?.split(separator: ", ") ?? []
                let described = try #require(operations.members).map { Substring($0.name.uppercased()) }
                #expect(Set(described) == Set(allowed).subtracting(["HEAD", "OPTIONS"]), "\(path)")
            }
        }
    }

    @Test("takes every schema of the shipped files, and has no choice among services", arguments: APIListener.allCases)
    func schemasOfFiles(listener: APIListener) throws {
        let services = try ShippedFiles.services()
        let document = try document(of: listener, services: services, flows: ShippedFiles.flows())
        var references: Set<String> = []
        collectReferences(in: document, into: &references)
        for reference in references {
            let pointer = try #require(JSONPointer(parsing: String(reference.dropFirst())))
            #expect(document.value(at: pointer) != nil, "\(reference) leads nowhere")
        }
        let used = references
        for (name, _) in try schemas(of: document) {
            let isUsed = used.contains("#/components/schemas/\(name)")
            #expect(isUsed, "\(name)")
        }
        for (path, operations) in try paths(of: document) where path.contains("/services/") {
            for operation in try #require(operations.members).map(\.value) {
                for body in [operation[member: "requestBody"]]
                    + (operation[member: "responses"]?.members ?? []).map(\.value)
                {
                    for (_, content) in body?[member: "content"]?.members ?? [] {
                        #expect(content[member: "schema"]?.members?.allSatisfy { $0.name == "$ref" } ?? true)
                    }
                }
            }
        }
        let ids = try operations(of: document).map { $0[member: "operationId"]?.string ?? "" }
        #expect(Set(ids.map { $0.lowercased() }).count == ids.count)
        #expect(ids.contains("getBasket") && ids.contains("patchQuoteDraft"))
        let patch = document.value(at: JSONPointer(["components", "schemas", "QuoteDraftPatch"]))
        #expect(patch?[member: "required"] == nil)
        // Without an author it is no quotation, so a patch cannot remove it.
        #expect(patch?[member: "properties"]?[member: "author"] == ["type": "string", "maxLength": 200])
    }

    @Test("tells events apart by name and flows by id, each with its own data; events of back ends for them alone")
    func events() throws {
        for listener in APIListener.allCases {
            let document = try document(of: listener, services: ShippedFiles.services(), flows: ShippedFiles.flows())
            let event = schemas("JourneyEvent", of: document)
            let mapping = try #require(event?[member: "discriminator"]?[member: "mapping"]?.members)
            #expect(event?[member: "oneOf"]?.count == mapping.count)
            let names = mapping.map(\.name) + ["", "background"]
            for (name, reference) in mapping {
                let part = schemas(String(reference.string?.split(separator: "/").last ?? ""), of: document)
                let member = try JSONSchema(#require(part?[member: "properties"]?[member: "event"]))
                for other in names {
                    #expect(member.violations(in: JSONDocument(other)).isEmpty == (other == name))
                }
            }
            #expect(names.contains("back") && names.contains("sign_in"))
            #expect(names.contains("lock") == (listener == .admin))
            let submit = schemas("SubmitEvent", of: document)
            #expect(submit?[member: "required"] == ["event", "data"])
            #expect(schemas("NextEvent", of: document)?[member: "required"] == ["event"])
            let data = schemas("ApplicationBornSubmit", of: document)?[member: "properties"]?[member: "born"]
            #expect(data?[member: "format"] == "date")
            #expect(data?[member: "x-say"] == nil)
            guard listener == .public else { continue }
            let start = schemas("JourneyStart", of: document)?[member: "discriminator"]?[member: "mapping"]
            #expect(start?[member: "wizard"] == "#/components/schemas/WizardJourneyStart")
            let needed = schemas("VerificationJourneyStart", of: document)?[member: "required"]
            #expect(needed == ["flow", "input"])
        }
    }

    @Test("shows nothing of flows that need a token to be seen")
    func hiddenFlows() async throws {
        for isPublic in [true, false] {
            try await withApplication(services: ShippedFiles.services(), flows: ShippedFiles.flows()) {
                $0.flowsPublic = isPublic ? .outlines : .nothing
            } _: { running in
                for client in [running.client(), running.admin()] {
                    let text = try await client.get("/openapi.json").json.description
                    #expect(text.contains("sign_in\":\"#/components") == isPublic)
                }
            }
        }
    }

    @Test("keeps names apart that generated clients would take for one")
    func names() throws {
        let services = try ["session", "a-b", "ab", "basket-patch", "basket"].map { try ServiceFile(name: $0) }
        let document = try document(of: .public, services: services)
        let names = try schemas(of: document).map { $0.name.lowercased() }
        #expect(Set(names).count == names.count)
        let ids = try operations(of: document).map { $0[member: "operationId"]?.string?.lowercased() ?? "" }
        #expect(Set(ids).count == ids.count)
        #expect(document[member: "paths"]?[member: "/v1/sessions/{session}/services/a-b"] != nil)
        #expect(schemas("Session", of: document)?[member: "properties"]?[member: "revision"] != nil)
    }

    @Test("converts what draft 7 writes otherwise, and leaves out what only other drafts know")
    func conversion() throws {
        let draft7: JSONDocument = [
            "$schema": "http://json-schema.org/draft-07/schema#", "$id": "http://example.com/tree",
            "definitions": [
                "node": ["type": "object", "properties": ["next": ["$ref": "#/definitions/node"]]],
                "tag": ["$id": "#tag", "type": "string"],
            ],
            "type": "object",
            "properties": [
                "first": ["$ref": "#/definitions/node", "description": "is ignored beside a reference"],
                "whole": ["$ref": "#"], "tag": ["$ref": "#tag"], "any": true, "none": false,
                "pair": [
                    "type": "array", "items": [["type": "string"], ["type": "integer"]], "additionalItems": false,
                ],
                "list": ["type": "array"], "$ref": ["type": "string"],
            ],
            "dependencies": ["first": ["tag"], "tag": ["required": ["pair"]]],
            "unevaluatedProperties": false, "x-say": "No.", "$comment": "for us",
        ]
        let document = try document(of: .public, services: [ServiceFile(name: "tree", schema: draft7)])
        let tree = try #require(schemas("Tree", of: document))
        #expect(
            tree == [
                "type": "object", "default": .emptyObject,
                "properties": [
                    "first": ["$ref": "#/components/schemas/TreeNode"], "whole": ["$ref": "#/components/schemas/Tree"],
                    "tag": ["$ref": "#/components/schemas/TreeTag"], "any": .emptyObject, "none": ["not": .emptyObject],
                    "pair": [
                        "type": "array", "items": false,
                        "prefixItems": [["type": "string"], ["type": "integer", "format": "int64"]],
                    ],
                    "list": ["type": "array", "items": .emptyObject], "$ref": ["type": "string"],
                ],
                "dependentRequired": ["first": ["tag"]], "dependentSchemas": ["tag": ["required": ["pair"]]],
            ])
        #expect(
            schemas("TreeNode", of: document) == [
                "type": "object", "properties": ["next": ["$ref": "#/components/schemas/TreeNode"]],
            ])
        #expect(schemas("TreeTag", of: document) == ["type": "string"])
    }

    @Test("has a path for each command, with its schemas, and none without commands", arguments: APIListener.allCases)
    func commands(listener: APIListener) throws {
        let document = try document(of: listener, adding: Shop.services)
        let commands = "/v1/sessions/{session}/services/cart/commands/"
        let ofJourney = "/v1/sessions/{session}/journeys/{id}/services/cart/commands/"
        let all = try paths(of: document).filter { $0.name.hasPrefix(commands) }
        #expect(all.map { String($0.name.dropFirst(commands.utf8.count)) }.sorted() == Cart.commandNames.sorted())
        func member(_ path: String...) -> JSONDocument? { document.value(at: JSONPointer(["paths"] + path)) }
        let json = ["content", "application/json", "schema", "$ref"]
        let add = member(commands + "add", "post")
        #expect(add?[member: "operationId"] == "callCartAdd")
        #expect(member(ofJourney + "add", "post")?[member: "operationId"] == "callCartAddOfJourney")
        #expect(
            add?.value(at: JSONPointer(["requestBody"] + json)) == "#/components/schemas/CartAddInput")
        #expect(
            add?.value(at: JSONPointer(["responses", "200"] + json)) == "#/components/schemas/CartAddOutput")
        #expect(schemas("CartAddInput", of: document)?[member: "required"] == ["id", "count"])
        let output = schemas("CartAddOutput", of: document)?[member: "properties"]
        #expect(output == ["output": ["type": "integer", "format": "int64"]])
        let empty = member(commands + "empty", "post")
        #expect(empty?[member: "requestBody"] == nil)
        #expect(empty?[member: "responses"]?[member: "200"] == nil)
        #expect(empty?[member: "responses"]?[member: "204"] != nil)
        var references: Set<String> = []
        collectReferences(in: document, into: &references)
        for reference in references {
            let pointer = try #require(JSONPointer(parsing: String(reference.dropFirst())))
            #expect(document.value(at: pointer) != nil, "\(reference) leads nowhere")
        }
        let names = try operations(of: document).map { $0[member: "operationId"]?.string ?? "" }
        #expect(Set(names).count == names.count)
        #expect(!"\(try self.document(of: listener))".contains("callService"))
    }

    func schemas(of document: JSONDocument) throws -> [(name: String, value: JSONDocument)] {
        try #require(document.value(at: JSONPointer(["components", "schemas"]))?.members)
    }

    private func schemas(_ name: String, of document: JSONDocument) -> JSONDocument? {
        document.value(at: JSONPointer(["components", "schemas", name]))
    }

    func document(
        of listener: APIListener, services: [ServiceFile] = [], adding added: SwiftServices = SwiftServices(),
        flows: [String] = []
    ) throws -> JSONDocument {
        let catalog = try ServiceCatalog(declarations: services.map(ServiceDefinition.init), adding: added)
        let flows = try flowCatalog(flows, services: services)
        return try JSONDocument(
            parsing: OpenAPIDocument(
                listener: listener, version: BuildInformation.version, groups: APIGroup.all(on: listener),
                services: catalog.services,
                flows: flows
            ).bytes)
    }

    private func paths(of document: JSONDocument) throws -> [(name: String, value: JSONDocument)] {
        try #require(document[member: "paths"]?.members)
    }

    func operations(of document: JSONDocument) throws -> [JSONDocument] {
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
