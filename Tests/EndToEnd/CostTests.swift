import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What the worst requests cost the server, as `docs/limits.md` has it.
@Suite("The cost of a request", .serialized)
struct CostTests {
    /// A machine that others use takes up to this many times as long as what the page says.
    private static let factor = 5.0
    private static let times = 10

    private typealias Send = @Sendable (TestClient) async throws -> TestResponse

    private static func put(_ name: String, _ json: String) -> Send {
        { try await $0.send("PUT", Paths.service(name), json: json) }
    }

    private static func patch(_ name: String, _ operations: [String]) -> Send {
        { client in
            try await client.send(
                "PATCH", Paths.service(name), json: "[" + operations.joined(separator: ",") + "]",
                fields: [("Content-Type", "application/json-patch+json")])
        }
    }

    private static func list(_ element: String, bytes: Int) -> String {
        "[" + repeatElement(element, count: bytes / (element.utf8.count + 1) - 1).joined(separator: ",") + "]"
    }

    private static func profile(_ more: String) -> String {
        #"{"name":"Ada","email":null,"locale":null,"attributes":{"a":\#(more),"b":{}}}"#
    }

    private static let state = 65_000
    private static let body = 131_000

    /// The first column of the page, what is sent before, what is sent, and the status.
    private static let rows: [(name: String, before: [Send], send: Send, status: Int)] = [
        ("`GET` of a service", [put("any", list("0", bytes: state))], { try await $0.get(Paths.service("any")) }, 200),
        ("`PUT` of a service", [], put("any", list("[]", bytes: state)), 200),
        ("a body that is not a state", [], put("any", list("[]", bytes: body)), 413),
        (
            "a body that is not JSON", [],
            put("any", "{" + (0..<11_000).map { "\"\(100_000 + $0)\":1" }.joined(separator: ",") + #","110999":1}"#),
            400
        ),
        (
            "`PATCH` of a service", [put("profile", profile(list("0", bytes: state)))],
            { try await $0.patch(Paths.profile, #"{"name":"Ada"}"#) }, 200
        ),
        (
            "a JSON Patch", [put("profile", profile(#"{"x":\#(list("0", bytes: state))}"#))],
            patch(
                "profile",
                (0..<500).flatMap { _ in
                    [
                        #"{"op":"move","from":"/attributes/a/x","path":"/attributes/b/x"}"#,
                        #"{"op":"move","from":"/attributes/b/x","path":"/attributes/a/x"}"#,
                    ]
                }), 200
        ),
        (
            "a JSON Patch that is stopped", [put("any", list("0", bytes: state))],
            patch("any", Array(repeating: #"{"op":"add","path":"/0","value":0}"#, count: 1_000)), 413
        ),
        (
            "a schema that refers to itself", [],
            put(
                "nest",
                list(String(repeating: #"{"a":"#, count: 61) + "1" + String(repeating: "}", count: 61), bytes: state)),
            400
        ),
        ("a pattern that is stopped", [], put("pattern", "\"" + String(repeating: "a", count: state) + "!\""), 400),
        (
            "a pattern that is stopped on a small text", [],
            put("pattern", "\"" + String(repeating: "a", count: 40) + "!\""), 400
        ),
        (
            "a transaction", [put("profile", profile(list("0", bytes: state)))],
            { client in
                let patches = (0..<100).map { #"{"op":"patch","service":"profile","value":{"name":"\#($0)"}}"# }
                return try await client.send(
                    "POST", Paths.transactions, json: #"{"operations":[\#(patches.joined(separator: ","))]}"#)
            }, 200
        ),
        (
            "a list of journeys",
            [put("profile", profile(list("0", bytes: state)))]
                + Array(
                    repeating: { try await $0.send("POST", Paths.journeys, json: #"{"flow":"wizard"}"#) }, count: 16),
            { try await $0.get(Paths.journeys) }, 200
        ),
        (
            "a link that leads nowhere", [{ try await $0.send("PUT", Paths.main, json: #"{"flow":"large"}"#) }],
            { try await $0.send("POST", Paths.main + "/navigation", json: #"{"to":"island"}"#) }, 409
        ),
        (
            "an event on a full stack",
            [
                { try await $0.send("PUT", Paths.main, json: #"{"flow":"large"}"#) },
                { try await $0.send("POST", Paths.main + "/navigation", json: #"{"to":"s9990"}"#) },
            ], { try await $0.send("POST", Paths.main + "/events", json: #"{"event":"again"}"#) }, 200
        ),
        ("a drawing", [], { try await $0.get("/v1/flows/large/graph") }, 200),
        ("a new session", [], { try await $0.send("POST", Paths.sessions) }, 201),
    ]

    /// The milliseconds of the page, by row.
    private static func documented() throws -> [String: Double] {
        let rows = try ShippedFiles.text("docs/limits.md").matches(of: /\| ([^|]+) \| ([0-9.]+) \|/)
        return Dictionary(uniqueKeysWithValues: rows.map { (String($0.1), Double($0.2) ?? 0) })
    }

    /// A row of screens, from the last of which nobody comes further.
    private static let large: String = {
        let states = (0..<10_000).map { place in
            let event = #""next":{"target":"s\#(place + 1)"\#(place == 9_999 ? #","guard":"never""# : "")}"#
            return #""s\#(place)":{"on":{\#(event),"again":{"target":"s\#(place)","nav":"replace"}}}"#
        }
        return #"{"id":"large","version":1,"initial":"s0","guards":{"never":{"service":"profile","schema":false}},"#
            + #""states":{\#(states.joined(separator: ",").replacing("s10000", with: "island")),"end":{"type":"final"},"island":{"on":{"next":{"target":"end"}}}}}"#
    }()

    private static let both = ##"{"properties":{"a":{"$ref":"#/definitions/n"}}}"##

    /// Beside the files that come with Concierge.
    private static let services = [
        "services/any.json": #"{"name":"any","default":[],"schema":{"type":["array","object"]}}"#,
        "services/pattern.json":
            #"{"name":"pattern","default":"","schema":{"type":"string","pattern":"^(a+)*$"}}"#,
        "services/nest.json": ##"""
        {"name":"nest","default":[],"schema":{"items":{"$ref":"#/definitions/n"},"definitions":{"n":
        {"type":"object","anyOf":[\##(both),\##(both)]}}}}
        """##,
    ]

    @Test(
        "is what docs/limits.md says, and no row is missing",
        .disabled(if: isSanitized, "A sanitizer multiplies the processor time."))
    func cost() async throws {
        let documented = try Self.documented()
        #expect(Set(documented.keys) == Set(Self.rows.map(\.name)))
        var files = Self.services
        files["flows/large.json"] = Self.large
        for path in ["flows/wizard.json", "flows/edit-quote.json", "services/quote-draft.json"] {
            files[path] = try ShippedFiles.text("config/\(path)")
        }
        try await withFolder(files) { _, folder in
            let program = try ProgramProcess([
                "serve", "--port", "0", "--admin-port", "0", "--store", "memory", "--services", "\(folder)/services",
                "--flows", "\(folder)/flows", "--set", "log.requests=false",
                // A machine that others use is slow, but takes no more processor time.
                "--set", "timeouts.handler=10m",
            ])
            let anybody = TestClient(port: try await program.ports().publicPort)
            var shares: [(name: String, share: Double)] = []
            for row in Self.rows {
                let created = try await anybody.send("POST", Paths.sessions)
                let client = anybody.with(token: try #require(created[member: "token"]?.string))
                for send in row.before { #expect((200...201).contains(try await send(client).status), "\(row.name)") }
                let before = try program.processorTime()
                for _ in 0..<Self.times { #expect(try await row.send(client).status == row.status, "\(row.name)") }
                let used = (try program.processorTime() - before) / Self.times
                let allowed = try #require(documented[row.name]) * Self.factor
                shares.append((row.name, used / .milliseconds(allowed)))
            }
            // A slow machine is slow at all of them.
            let usual = shares.map(\.share).sorted()[shares.count / 2]
            #expect(usual < 2, "\(shares)")
            for (name, share) in shares { #expect(share <= max(1, 2 * usual), "\(name): \(shares)") }
            program.send(SIGTERM)
            #expect(try await program.result().status == 0)
        }
    }
}
