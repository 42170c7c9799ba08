import Configuration
import JSONDocument
import Sessions
import Support
import Testing

@testable import API

/// `scripts/check-openapi-client` has generators make clients; this says what of their names can be said without them.
@Suite("Clients that are generated from the description")
struct GeneratedNamesTests {
    private let described = OpenAPITests()

    private func shipped(_ listener: APIListener) throws -> JSONDocument {
        try described.document(of: listener, services: ShippedFiles.services(), flows: ShippedFiles.flows())
    }

    @Test("have names that collide in no language", arguments: APIListener.allCases)
    func names(listener: APIListener) throws {
        #expect(GeneratedNames(of: try shipped(listener)).collisions == [])
    }

    @Test("nor do those of services whose names are chosen badly")
    func badNames() throws {
        let names = [
            "session", "new-session", "new-session-creation", "basket", "new-basket", "session-parameter", "flow",
            "basket-patch", "problem", "journey-start",
        ]
        let document = try described.document(of: .public, services: names.map { try ServiceFile(name: $0) })
        #expect(GeneratedNames(of: document).collisions == [])
    }

    @Test("the check finds what it is for")
    func planted() {
        func collisions(_ schemas: JSONDocument, _ parameters: JSONDocument = .emptyObject) -> Int {
            GeneratedNames(of: ["components": ["schemas": schemas, "parameters": parameters]]).collisions.count
        }
        let plain: JSONDocument = ["type": "object"]
        #expect(collisions(["Session": plain, "Journey": plain]) == 0)
        #expect(collisions(["Session": plain, "NewSession": plain]) > 0)
        #expect(collisions(["Basket": plain, "bas-ket": plain]) > 0)
        #expect(collisions(["Session": plain], ["session": ["name": "session"]]) > 0)
        #expect(collisions(["Count": ["properties": ["count": plain]]]) > 0)
        #expect(collisions(["A": ["properties": ["b": ["properties": ["c": plain]]]], "AB": plain]) > 0)
        #expect(collisions(["A": ["properties": ["user_id": plain, "userId": plain]]]) > 0)
        #expect(collisions(["Error": plain]) > 0)
    }

    @Test("know how many bits each integer has", arguments: APIListener.allCases)
    func integers(listener: APIListener) throws {
        func check(_ part: JSONDocument, _ place: String) {
            if SchemaComponents.types(of: part).contains("integer") {
                #expect(["int32", "int64"].contains(part[member: "format"]?.string ?? ""), "\(place)")
            }
            for (name, value) in part.members ?? [] { check(value, "\(place)/\(name)") }
            for (index, value) in (part.elements ?? []).enumerated() { check(value, "\(place)/\(index)") }
        }
        check(try shipped(listener), "")
    }

    /// Swift and C# have no type of a boolean that is always true.
    @Test("have no types of one value but those that a service or a flow asks for", arguments: APIListener.allCases)
    func constants(listener: APIListener) throws {
        for (name, schema) in try described.schemas(of: described.document(of: listener)) {
            for (member, part) in schema[member: "properties"]?.members ?? [] {
                #expect(part[member: "const"] == nil, "\(name).\(member)")
            }
        }
    }

    @Test("accept values in responses that a later server has", arguments: APIListener.allCases)
    func enumerations(listener: APIListener) throws {
        let document = try described.document(of: listener)
        let schemas = Dictionary(uniqueKeysWithValues: try described.schemas(of: document).map { ($0.name, $0.value) })
        func used(_ part: JSONDocument, _ names: inout Set<String>) {
            for name in SchemaComponents.references(in: part) where names.insert(name).inserted {
                if let schema = schemas[name] { used(schema, &names) }
            }
        }
        var (sent, received): (Set<String>, Set<String>) = ([], [])
        for operation in try described.operations(of: document) {
            used(operation[member: "requestBody"] ?? .null, &sent)
            used(operation[member: "responses"] ?? .null, &received)
        }
        used(document[member: "components"]?[member: "responses"] ?? .null, &received)
        #expect(received.contains("Problem") && received.contains("Journey"))
        func closed(_ part: JSONDocument) -> Bool {
            if let values = part[member: "enum"], values.elements != nil { return true }
            return (part.members?.map(\.value) ?? part.elements ?? []).contains(where: closed)
        }
        for name in received.subtracting(sent) { #expect(schemas[name].map(closed) == false, "\(name)") }
    }

    @Test("can repeat whatever changes something", arguments: APIListener.allCases)
    func keys(listener: APIListener) throws {
        // What is only asked, and what is no harm twice.
        let without: Set = ["exportSessions", "tryFlows", "giveBackFreePages"]
        let document = try shipped(listener)
        for (path, methods) in document[member: "paths"]?.members ?? [] {
            for (method, operation) in methods.members ?? [] where method != "get" {
                let parameters = operation[member: "parameters"]?.elements ?? []
                let hasKey = parameters.contains { $0[string: "$ref"]?.contains("/Idempotency-Key") == true }
                #expect(hasKey != without.contains(operation[string: "operationId"] ?? ""), "\(method) \(path)")
                guard hasKey else { continue }
                for (status, response) in operation[member: "responses"]?.members ?? [] where status.hasPrefix("2") {
                    #expect(response[member: "headers"]?[member: "Idempotency-Replayed"] != nil, "\(method) \(path)")
                }
            }
        }
    }
}
