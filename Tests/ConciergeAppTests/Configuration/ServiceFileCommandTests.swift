import Configuration
import JSONDocument
import Testing

@Suite("Commands in service files")
struct ServiceFileCommandTests {
    /// - Parameter command: of the service `bag`, the only line that differs.
    private static func file(_ command: String, guards: String = "{}", scope: String = "session") -> String {
        """
        {"name": "bag", "scope": "\(scope)", "default": {"items": [], "total": 0},
         "schema": {"type": "object", "required": ["items", "total"], "additionalProperties": false, "properties": {
           "items": {"type": "array", "items": {"type": "string"}}, "total": {"type": "integer", "minimum": 0}}},
         "guards": \(guards),
         "commands": {"put": \(command)}}
        """
    }
    private static let menu = """
        {"name": "menu", "scope": "process", "default": {"soup": "leek"},
         "schema": {"type": "object", "required": ["soup"], "properties": {"soup": {"type": "string"}}}}
        """
    private static let accepts =
        #""accepts": {"type": "object", "properties": {"thing": {"type": "string"}}, "additionalProperties": false}"#

    private static func services(_ bag: String) async throws -> LoadedConfiguration {
        try await load(
            ["services/bag.json": bag, "services/menu.json": menu], set: ["services": "services"])
    }

    @Test("what a command takes and gives is known with its types")
    func full() async throws {
        let loaded = try await Self.services(
            Self.file(
                """
                {\(Self.accepts), "rules": [{"guard": {"has": "/event/thing"}, "at": "/thing", "say": "What?"}],
                 "guard": "open", "actions": [{"op": "add", "path": "/bag/items/-", "value": {"$from": "/event/thing"}},
                   {"op": "replace", "path": "/profile/name", "value": {"$from": "/menu/soup"}}],
                 "output": {"count": {"$count": "/bag/items"}, "at": {"$from": "/now"}}}
                """, guards: #"{"open": {"compare": ["/bag/total", "<", 5], "say": {"en": "Full.", "de": "Voll."}}}"#))
        #expect(loaded.problems == [])
        let command = try #require(loaded.services.first?.commands.first)
        #expect(command.name == "put" && command.services == ["bag", "menu", "profile"])
        #expect(command.accepts?.document[member: "properties"]?[member: "thing"] == ["type": "string"])
        let output = command.outputSchema?[member: "properties"]
        #expect(output?[member: "count"] == ["type": "integer", "minimum": 0])
        #expect(output?[member: "at"]?[member: "format"] == "date-time")
    }

    @Test(
        "each mistake has its code, its place, and a guess",
        arguments: [
            ("[]", "wrong_type", "/commands/put", nil),
            ("{}", "missing_key", "/commands/put", nil),
            (#"{"action": [], "output": 1}"#, "unknown_key", "/commands/put/action", "actions"),
            (#"{"accepts": {"type": "strin"}, "output": 1}"#, "bad_schema", "/commands/put/accepts/type", nil),
            (#"{"guard": "opne", "output": 1}"#, "unknown_guard", "/commands/put/guard", nil),
            (#"{"guard": {"has": "/bga/items"}, "output": 1}"#, "unknown_service", "/commands/put/guard/has", "bag"),
            (
                #"{"actions": [{"op": "add", "path": "/bag/itmes/-", "value": "x"}]}"#, "forbidden_path",
                "/commands/put/actions/0/path", "/bag/items/-"
            ),
            (
                #"{"actions": [{"op": "replace", "path": "/bag/total", "value": "x"}]}"#, "forbidden_value",
                "/commands/put/actions/0/value", nil
            ),
            (
                #"{"actions": [{"op": "replace", "path": "/menu/soup", "value": "x"}]}"#, "read_only_service",
                "/commands/put/actions/0/path", nil
            ),
            (#"{"actions": [{"remove": "user"}]}"#, "read_only_service", "/commands/put/actions/0/remove", nil),
            (
                #"{\#(accepts), "output": {"$from": "/event/thng"}}"#, "value_never",
                "/commands/put/output/$from", "/event/thing"
            ),
            (#"{"output": {"$from": "/event/thing"}}"#, "value_never", "/commands/put/output/$from", nil),
            (#"{"output": {"$from": "/input/thing"}}"#, "value_never", "/commands/put/output/$from", "/event"),
            (#"{"output": {"$from": "/bag/totl"}}"#, "value_never", "/commands/put/output/$from", "/bag/total"),
            (#"{"output": {"$sum": {"of": "/bag/items"}}}"#, "bad_value", "/commands/put/output/$sum/of", nil),
            (#"{"actions": [{"call": "bag/put"}]}"#, "unknown_command", "/commands/put/actions/0/call", nil),
            (
                #"{\#(accepts), "rules": [{"guard": {"has": "/event/thing"}, "at": "/thng"}], "output": 1}"#,
                "undeclared_member", "/commands/put/rules/0/at", "/thing"
            ),
        ] as [(String, String, String, String?)])
    func mistakes(command: String, code: String, pointer: String, guess: String?) async throws {
        let loaded = try await Self.services(Self.file(command))
        let problem = try #require(loaded.problems.first { $0.severity == .error }, "\(loaded.problems)")
        #expect(problem.code == code && problem.pointer == pointer, "\(loaded.problems)")
        #expect(problem.origin.description.hasPrefix("services/bag.json:5:"))
        if let guess { #expect(problem.message.hasSuffix("; did you mean \(guess)?"), "\(problem.message)") }
    }

    @Test("a command of the process changes its own document alone, and no flow calls it")
    func process() async throws {
        let own =
            #"{"actions": [{"op": "replace", "path": "/bag/total", "value": 1}], "output": {"$from": "/menu/soup"}}"#
        let good = try await Self.services(Self.file(own, scope: "process"))
        #expect(good.problems == [])
        for path in ["/menu/soup", "/profile/name"] {
            let action = #"{"actions": [{"op": "replace", "path": "\#(path)", "value": "x"}]}"#
            let loaded = try await Self.services(Self.file(action, scope: "process"))
            #expect(loaded.problems.map(\.pointer) == ["/commands/put/actions/0/path"])
        }
        let flow = #"""
            {"id": "f", "version": 1, "initial": "a", "states": {
               "a": {"on": {"go": {"actions": [{"call": "bag/put"}]}}}}}
            """#
        let called = try await load(
            [
                "services/bag.json": Self.file(own, scope: "process"), "services/menu.json": Self.menu,
                "flows/f.json": flow,
            ], set: ["services": "services", "flows": "flows"])
        #expect(called.problems.map(\.code) == ["unknown_command"])
        #expect(called.problems.first?.message.hasPrefix("bag is of the process") == true)
    }

    @Test("flows are checked against commands: the input, the output and the name")
    func flows() async throws {
        func problems(_ actions: String) async throws -> [String] {
            let flow = """
                {"id": "f", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"actions": [\(actions)]}}}}}
                """
            let bag = Self.file(
                #"{\#(Self.accepts), "actions": [{"clear": "bag"}], "output": {"total": {"$from": "/bag/total"}}}"#)
            let files = ["services/bag.json": bag, "services/menu.json": Self.menu, "flows/f.json": flow]
            let loaded = try await load(files, set: ["services": "services", "flows": "flows"])
            return loaded.problems.map { "\($0.code) \($0.pointer)" }
        }
        let place = "/states/a/on/go/actions"
        #expect(try await problems(#"{"call": "bag/put", "with": {"thing": "x"}}"#) == [])
        #expect(try await problems(#"{"call": "bag/pot", "with": {}}"#) == ["unknown_command \(place)/0/call"])
        #expect(
            try await problems(#"{"call": "bag/put", "with": {"thing": 1}}"#)
                == ["input_mismatch \(place)/0/with"])
        #expect(
            try await problems(
                #"""
                {"call": "bag/put", "with": {}},
                {"op": "replace", "path": "/profile/name", "value": {"$from": "/result/total"}}
                """#) == ["forbidden_value \(place)/1/value"])
    }
}
