import Configuration
import Testing

@Suite("Service files")
struct ConfigurationServiceFileTests {
    @Test("A full declaration is understood, comments and all")
    func full() async throws {
        let loaded = try await services([
            "a.json": """
            // A basket.
            {"name": "basket-2", "description": "Goods", "schema": {"type": "object"}, "default": {"items": []},
             "lifetime": "PT2H", "concurrency": "first_write", /* or not */ "bound_to": "user",
             "access": "read_only"}
            """
        ])
        #expect(loaded.problems == [])
        let service = try #require(loaded.services.first)
        #expect(service.name == "basket-2")
        #expect(service.summary == "Goods")
        #expect(service.defaultState.description == #"{"items":[]}"#)
        #expect(service.lifetime == .seconds(7200))
        #expect(service.concurrency == .firstWrite)
        #expect(service.boundTo == .user)
        #expect(service.access == .readOnly)
        #expect(service.path == "services/a.json")
    }

    @Test("What may be left out has its default, and other files of the folder are left alone")
    func sparse() async throws {
        let minimal = #"{"name": "a", "schema": {"type": "integer"}, "default": 1}"#
        let loaded = try await services([
            "a.json": minimal, "notes.md": "#", ".hidden.json": "{", "deeper/b.json": "{",
        ])
        #expect(loaded.problems == [])
        #expect(loaded.services.map(\.name) == ["a"])
        #expect(loaded.services.first?.concurrency == .lastWrite)
        #expect(loaded.services.first?.lifetime == nil)
        #expect(loaded.services.first?.boundTo == nil)
        #expect(loaded.services.first?.access == .readWrite)
    }

    @Test(
        "Each kind of problem has its code and its place",
        arguments: [
            (#"{"name": "a", "schema": {"type": "object"}, "default": {}, }"#, "1:60", "invalid_json", ""),
            ("[]", "1:1", "wrong_type", ""),
            (#"{"name": 1, "schema": {"type": "object"}, "default": {}}"#, "1:2", "wrong_type", "/name"),
            (#"{"name": "a", "schema": [], "default": {}}"#, "1:15", "wrong_type", "/schema"),
            (
                #"{"name": "a", "description": 1, "schema": {"type": "object"}, "default": {}}"#, "1:15", "wrong_type",
                "/description"
            ),
            (#"{"name": "A b", "schema": {"type": "object"}, "default": {}}"#, "1:2", "bad_name", "/name"),
            (#"{"name": "", "schema": {"type": "object"}, "default": {}}"#, "1:2", "bad_name", "/name"),
            (#"{"name": "quote", "schema": {"type": "object"}, "default": {}}"#, "1:2", "reserved_name", "/name"),
            (#"{"schema": {"type": "object"}, "default": {}}"#, "1:1", "missing_key", ""),
            (#"{"name": "a", "default": {}}"#, "1:1", "missing_key", ""),
            (#"{"name": "a", "schema": {"type": "object"}}"#, "1:1", "missing_key", ""),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "lifetmie": "1h"}"#, "1:60", "unknown_key",
                "/lifetmie"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "lifetime": 30}"#, "1:60", "bad_duration",
                "/lifetime"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "lifetime": "0s"}"#, "1:60",
                "bad_duration", "/lifetime"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "concurrency": "firstwrite"}"#, "1:60",
                "bad_choice", "/concurrency"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "bound_to": "device"}"#, "1:60",
                "bad_choice", "/bound_to"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "scope": "global"}"#, "1:60",
                "bad_choice", "/scope"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "scope": "process", "lifetime": "1h"}"#,
                "1:80", "not_of_process", "/lifetime"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "scope": "process", "bound_to": "user"}"#,
                "1:80", "not_of_process", "/bound_to"
            ),
            (
                #"{"name": "a", "schema": {"type": "object"}, "default": {}, "access": "read_only", "scope": "process"}"#,
                "1:60", "not_of_process", "/access"
            ),
        ])
    func oneProblem(text: String, place: String, code: String, pointer: String) async throws {
        let loaded = try await services(["a.json": text])
        #expect(loaded.services.isEmpty)
        #expect(loaded.problems.map(\.origin.description) == ["services/a.json:\(place)"])
        #expect(loaded.problems.map(\.code) == [code])
        #expect(loaded.problems.map(\.pointer) == [pointer])
        #expect(loaded.problems.map(\.severity) == [.error])
    }

    @Test("A schema that is none is a problem", arguments: [#"{"type": "strin"}"#, #"{"minimum": "1"}"#])
    func badSchema(schema: String) async throws {
        let loaded = try await services(["a.json": #"{"name": "a", "schema": \#(schema), "default": {}}"#])
        #expect(loaded.problems.map(\.code) == ["bad_schema"])
        #expect(loaded.problems.first?.message.hasSuffix(".") == false, "a part of a line, as all messages are")
        #expect(loaded.problems.first?.pointer.hasPrefix("/schema") == true)
        #expect(loaded.services.isEmpty)
    }

    @Test("A default that does not fit is a problem at the value that does not")
    func defaultMismatch() async throws {
        let text = """
            {"name": "a",
             "schema": {"type": "object", "properties": {"n": {"type": "integer"}}},
             "default": {"n": "one"}}
            """
        let loaded = try await services(["a.json": text])
        #expect(loaded.problems.map(\.code) == ["default_mismatch"])
        #expect(loaded.problems.map(\.pointer) == ["/default/n"])
        #expect(loaded.problems.map(\.origin.description) == ["services/a.json:3:14"])
        #expect(loaded.services.isEmpty)
    }

    @Test("A schema that allows anything is a warning, and the service is there", arguments: ["{}", "true"])
    func emptySchema(schema: String) async throws {
        let loaded = try await services(["a.json": #"{"name": "a", "schema": \#(schema), "default": {}}"#])
        #expect(loaded.problems.map(\.code) == ["empty_schema"])
        #expect(loaded.problems.map(\.severity) == [.warning])
        #expect(!loaded.hasErrors)
        #expect(loaded.services.count == 1)
    }

    @Test("Keywords that mean nothing in draft 7 are warnings at their places, and the service is there")
    func schemaWarnings() async throws {
        let text = """
            {"name": "a", "default": {},
             "schema": {
              "$schema": "https://json-schema.org/draft/2019-09/schema", "additionalproperties": false,
              "properties": {"host": {"format": "hostname"}}
             }}
            """
        let loaded = try await services(["a.json": text])
        #expect(loaded.problems.map(\.code) == ["other_draft", "unknown_keyword", "without_effect"])
        #expect(loaded.problems.allSatisfy { $0.severity == .warning })
        #expect(
            loaded.problems.map(\.origin.description)
                == ["services/a.json:3:3", "services/a.json:3:62", "services/a.json:4:27"])
        #expect(loaded.problems[1].message.hasSuffix("; did you mean additionalProperties?"))
        #expect(loaded.services.count == 1)
    }

    @Test("Two files with one name are a problem that names both, also when the first is bad")
    func duplicateName() async throws {
        let good = #"{"name": "a", "schema": {"type": "object"}, "default": {}}"#
        let bad = #"{"name": "a", "schema": {"type": "object"}}"#
        let loaded = try await services(["1.json": bad, "2.json": good])
        #expect(loaded.problems.map(\.code) == ["missing_key", "duplicate_name"])
        #expect(
            loaded.problems.last?.description
                == "services/2.json:1:2: error: /name duplicate_name: a is declared in services/1.json already; "
                + "allowed is a name of its own")
    }

    @Test("All problems of all files come at once, with guesses")
    func allAtOnce() async throws {
        let loaded = try await services([
            "a.json": #"{"nmae": "a", "schema": {}, "default": {}, "concurrency": "last"}"#,
            "b.json": "{", "c.json": #"{"name": "user", "bound_to": "usr", "access": "readonly", "default": 1}"#,
        ])
        #expect(
            loaded.problems.map { "\($0.origin.description.prefix(15)) \($0.code)" } == [
                "services/a.json unknown_key", "services/a.json missing_key", "services/a.json empty_schema",
                "services/a.json bad_choice", "services/b.json invalid_json", "services/c.json reserved_name",
                "services/c.json missing_key", "services/c.json bad_choice", "services/c.json bad_choice",
            ])
        #expect(loaded.problems[0].message.hasSuffix("did you mean name?"))
        #expect(loaded.problems[7].message.hasSuffix(#"did you mean "user"?"#))
        #expect(loaded.problems[8].message.hasSuffix(#"did you mean "read_only"?"#))
    }

    private func services(_ files: [String: String]) async throws -> LoadedConfiguration {
        let files = Dictionary(uniqueKeysWithValues: files.map { ("services/\($0.key)", $0.value) })
        return try await load(files, set: ["services": "services"])
    }
}
