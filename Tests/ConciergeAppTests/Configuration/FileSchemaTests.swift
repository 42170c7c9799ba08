import FlowTools
import JSONDocument
import Navigation
import Support
import Synchronization
import Testing

@testable import Commands
@testable import ConciergeApp
@testable import Configuration

@Suite("The schemas of files")
struct FileSchemaTests {
    @Test("fit every file that comes with Concierge, also with $schema in it")
    func shippedFiles() throws {
        let files = ShippedFiles.repository
        var paths = [(FileSchema.configuration, "config/concierge.json")]
        for (kind, folder) in [(FileSchema.service, "config/services"), (.flow, "config/flows")] {
            paths += try files.names(in: folder).filter { $0.hasSuffix(".json") }.map { (kind, "\(folder)/\($0)") }
        }
        #expect(paths.count > 15)
        for (kind, path) in paths {
            let schema = try JSONSchema(kind.document)
            #expect(schema.warnings.isEmpty)
            let document = try JSONFile(reading: path, with: files).document
            #expect(schema.violations(in: document) == [], "\(path)")
            #expect(schema.accepts(document.merging(["$schema": "../schema.json"])), "\(path)")
        }
    }

    @Test(
        "do not fit plausible mistakes",
        arguments: [
            (FileSchema.configuration, #"{"prot": 8080}"#), (.configuration, #"{"port": "8080"}"#),
            (.configuration, #"{"port": 80800}"#), (.configuration, #"{"admin": {"prot": 1}}"#),
            (.configuration, #"{"drain_timeout": 30}"#), (.configuration, #"{"drain_timeout": "30 s"}"#),
            (.configuration, #"{"log": {"level": "warn"}}"#), (.configuration, #"{"store": "redis:x"}"#),
            (.configuration, #"{"cors": {"allowed_origins": ["*"]}}"#), (.configuration, #"{"admin.port": 1}"#),
            (.configuration, #"{"tasks": {"send": {"uri": "http://x"}}}"#),
            (.configuration, #"{"flows_public": "all"}"#),
            (.service, #"{"name": "a", "schema": {}}"#), (.service, #"{"name": "A", "schema": {}, "default": 1}"#),
            (.service, #"{"name": "profile", "schema": {}, "default": 1}"#),
            (.service, #"{"name": "a", "schema": {}, "default": 1, "lifetime": 60}"#),
            (.service, #"{"name": "a", "schema": {}, "default": 1, "access": "readonly"}"#),
            (.service, #"{"name": "a", "schema": {}, "default": 1, "scope": 1}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s"}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {}}"#),
            (.flow, #"{"id": "a", "version": "1", "initial": "s", "states": {"s": {}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"type": "end"}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"outcome": "x"}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"type": "final", "on": {}}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"on": {"next": "t"}}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"on": {"next": {"goto": "t"}}}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"on": {"next": {"nav": "modal"}}}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"entry": [{"set": "/a/b"}]}}}"#),
            (.flow, #"{"id": "a", "version": 1, "initial": "s", "states": {"s": {"$schema": "x"}}}"#),
        ])
    func mistakes(kind: FileSchema, text: String) throws {
        #expect(!(try JSONSchema(kind.document).accepts(JSONDocument(parsing: text))))
    }

    @Test("of the configuration has the keys of the reference, and the loader knows each of its keys")
    func configurationKeys() throws {
        let properties = try #require(FileSchema.configuration.document[member: "properties"]?.members)
        var paths: [String] = []
        for (name, property) in properties where name != "$schema" {
            let inner = property[member: "additionalProperties"]?[member: "properties"]?.members
            if let inner {
                paths += inner.map { "\(name).name.\($0.name)" }
            } else if let inner = property[member: "properties"]?.members {
                paths += inner.map { "\(name).\($0.name)" }
            } else {
                paths.append(name)
            }
        }
        let known = ConfigurationKey.all.map(\.path) + ConfigurationKey.ofTask("name").map(\.path)
        #expect(paths.sorted() == known.sorted())
    }

    @Test("take the default of each key of the configuration, as the reference shows it")
    func defaults() throws {
        for key in ConfigurationKey.all where !key.isSecret {
            let shown = try JSONDocument(parsing: key.show(Configuration()))
            #expect(try JSONSchema(key.schema).accepts(shown), "\(key.path)")
        }
    }

    @Test("of a flow has exactly the keys that the reader takes, in each kind of object")
    func flowKeys() throws {
        let definitions = try #require(FileSchema.flow.document[member: "definitions"]?.members)
        var objects = definitions.filter { $0.value[member: "properties"] != nil && $0.name != "state" }
        objects.append((name: "file", value: FileSchema.flow.document))
        let guardian = definitions.first { $0.name == "guard" }?.value[member: "anyOf"]?[1]
        objects.append((name: "guard", value: try #require(guardian)))
        #expect(objects.count == 27)
        for (name, schema) in objects {
            let keys = try #require(schema[member: "properties"]?.members).map(\.name)
            // An operation takes some keys with one `op`, and others with another.
            let unknown: [String]
            if name == "operation" {
                unknown = Set(try unknownKeys(among: keys + ["nonsense"], of: name, op: "add"))
                    .intersection(try unknownKeys(among: keys + ["nonsense"], of: name, op: "move")).sorted()
            } else {
                unknown = try unknownKeys(among: keys + ["nonsense"], of: name)
            }
            #expect(unknown == ["nonsense"], "\(name)")
        }
    }

    /// The keys that the loader reports as unknown, of an object of that kind that has all of them.
    private func unknownKeys(among keys: [String], of name: String, op: String = "add") throws -> [String] {
        var object = JSONDocument(members: keys.map { (name: $0, value: JSONDocument.null) })
        if keys.contains("type") { object = object.merging(["type": JSONDocument(name)]) }
        if name == "operation" { object = object.merging(["op": JSONDocument(op)]) }
        func screen(_ members: JSONDocument) -> JSONDocument { ["states": ["s": members]] }
        func task(_ members: JSONDocument) -> JSONDocument { ["states": ["s": members.merging(["type": "task"])]] }
        let flow: JSONDocument =
            switch name {
            case "file": object
            case "flowTimeout": ["timeout": object]
            case "migration": ["migrations": [object]]
            case "back": screen(["back": object])
            case "backTransition": screen(["on": ["back": object]])
            case "dependent": ["invalidates": ["/profile/name": [object]]]
            case "branch": screen(["type": "choice", "branches": [object]])
            case "retry": task(["retry": object])
            case "transition": ["on": ["e": object]]
            case "timer": ["timers": [object]]
            case "screenTimeout": screen(["timeout": object])
            case "clear", "remove", "merge", "set", "call", "record", "operation": ["entry": [object]]
            case "sideTask": ["tasks": ["x": object]]
            case "guard": screen(["requires": [object]])
            case "quantified": screen(["requires": [["every": object]]])
            case "rule": ["rules": ["e": [object]]]
            default: screen(object)
            }
        let file = FlowFile(name: "f", bytes: flow.serialized())
        let (_, problems) = FlowLoader(services: .declared(by: [])).load([file])
        return problems.filter { $0.code == .unknownKey && !$0.message.hasPrefix("schema goes with") }.map {
            JSONPointer(parsing: $0.pointer)?.tokens.last ?? ""
        }
    }

    @Test("of a service has exactly the keys that the reader takes")
    func serviceKeys() async throws {
        let keys = try #require(FileSchema.service.document[member: "properties"]?.members).map(\.name)
        let document = JSONDocument(members: (keys + ["nonsense"]).map { (name: $0, value: JSONDocument.null) })
        let loaded = try await load(["all/a.json": document.description], set: ["services": "all"])
        let unknown = loaded.problems.filter { $0.code == "unknown_key" }.map(\.pointer)
        #expect(unknown == ["/nonsense"])
    }

    @Test("are printed by a command, served by both listeners and shipped, the same each time")
    func printedAndServed() async throws {
        try await withApplication { running in
            for kind in FileSchema.allCases {
                let printed = Mutex("")
                let output = ProgramOutput(
                    result: { text in printed.withLock { $0 += text } },
                    complaint: { text in printed.withLock { $0 += text } })
                let status = await Program.run(
                    arguments: ["schema", kind.rawValue], environment: [:], output: output
                ) { _ in 1 }
                #expect(status == 0)
                let text = printed.withLock { $0 }
                #expect(text == "\(kind.document)\n")
                #expect(try ShippedFiles.text("config/schemas/\(kind.rawValue).json") == text)
                for client in [running.client(), running.admin()] {
                    let response = try await client.get("/schemas/\(kind.rawValue).json")
                    #expect(try response.json == kind.document)
                }
            }
        }
        for arguments in [["schema"], ["schema", "flows"], ["schema", "flow", "flow"]] {
            #expect(throws: UsageError.self) { try Invocation(arguments) }
        }
    }
}
