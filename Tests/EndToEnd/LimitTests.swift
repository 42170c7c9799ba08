import Configuration
import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Limits")
struct LimitTests {
    /// What the detail of a refusal says, by its code.
    private static let limits = [
        "target_too_long": "longer than 256 bytes. limits.target_bytes sets",
        "too_many_arguments": "more than 4 arguments. limits.query_arguments sets",
        "head_too_large": "longer than 1024 bytes. limits.header_bytes sets",
        "too_many_fields": "more than 10 header fields. limits.header_count sets",
        "too_many_cookies": "more than 3 cookies. limits.cookies sets",
    ]

    @Test(
        "the target, its arguments, the fields and the cookies are bounded as configured, on both listeners",
        arguments: [
            ("/version?" + String(repeating: "x", count: 300), "", 414),
            ("/version?a&b&c&d", "", 400), ("/version?a&b&c&d&e", "", 400),
            ("/version", "A: " + String(repeating: "x", count: 1100) + "\r\n", 431),
            ("/version", String(repeating: "A: b\r\n", count: 9), 200),
            ("/version", String(repeating: "A: b\r\n", count: 10), 431),
            ("/version", "Cookie: a=1; b=2; c=3\r\n", 200), ("/version", "Cookie: a=1; b=2; c=3; d=4\r\n", 431),
        ])
    func heads(target: String, fields: String, status: Int) async throws {
        try await withApplication { configuration in
            configuration.limits.targetBytes = 256
            configuration.limits.queryArguments = 4
            configuration.limits.headerBytes = 1024
            configuration.limits.headerCount = 10
            configuration.limits.cookies = 3
        } _: { app in
            for client in [app.client(), app.admin()] {
                let answer = try await client.send(
                    Array("GET \(target) HTTP/1.1\r\nHost: h\r\n\(fields)\r\n".utf8), "GET", "/version")
                #expect(answer.status == status)
                let detail = try? answer.json[member: "detail"]?.string
                if let said = answer.code.flatMap({ Self.limits[$0] }) {
                    #expect(detail?.contains(said) == true, "\(detail ?? "")")
                } else {
                    #expect([200, 400].contains(status))
                }
                if target.contains("&") {
                    #expect((answer.code == "too_many_arguments") == (target.split(separator: "&").count > 4))
                }
            }
            #expect(try await app.client().get("/version").status == 200)
        }
    }

    @Test(
        "all sessions together: at the limit what grows is 507, and the rest goes on; a restart knows the limit is reached"
    )
    func totalBytes() async throws {
        try await withFolder([:]) { _, folder in
            let configure = { (configuration: inout Configuration) in
                configuration.store = .sqlite(folder + "/sessions.db")
                configuration.totalBytes = 10_000
            }
            func attributes(_ size: Int) -> String {
                #"{"attributes":{"a":"\#(String(repeating: "x", count: size))"}}"#
            }
            let tokens = try await withApplication(configure) { app in
                let (first, _, firstToken) = try await app.newSession()
                let (second, _, secondToken) = try await app.newSession()
                #expect(try await first.patch(Paths.profile, attributes(6_000)).status == 200)
                #expect(try await second.patch(Paths.profile, attributes(3_500)).status == 200)
                let full = try await second.patch(Paths.profile, attributes(4_000))
                #expect(full.status == 507 && full.code == "storage_full")
                #expect(try await second.get(Paths.profile)["ETag"] == #""2""#)
                #expect(try await app.client().send("POST", Paths.sessions).status == 201)
                return [firstToken, secondToken]
            }
            try await withApplication(configure) { app in
                let (first, second) = (app.client().with(token: tokens[0]), app.client().with(token: tokens[1]))
                #expect(try await second.patch(Paths.profile, attributes(4_000)).status == 507)
                let metrics = try await app.admin().get("/metrics").text
                let stored = try #require(metrics.firstMatch(of: /\nconcierge_sessions_stored_bytes ([0-9]+)\n/)?.1)
                #expect((9_600...9_700).contains(Int(stored) ?? 0), "\(stored)")
                #expect(metrics.contains("\nconcierge_sessions_allowed_bytes 10000\n"))
                #expect(try await second.get(Paths.profile).status == 200)
                #expect(try await first.patch(Paths.profile, attributes(5_900)).status == 200)
                #expect(try await first.send("DELETE", Paths.profile).status == 204)
                #expect(try await second.patch(Paths.profile, attributes(4_000)).status == 200)
                #expect(try await second.send("DELETE", Paths.current).status == 204)
            }
        }
    }

    @Test("a body may have just as many bytes as configured, and not one more")
    func bodies() async throws {
        try await withSession { configuration in
            configuration.limits.bodyBytes = 1000
        } _: { client in
            func body(_ size: Int) -> String {
                let frame = #"{"attributes":{"a":""}}"#
                return frame.replacing(#""""#, with: "\"\(String(repeating: "x", count: size - frame.utf8.count))\"")
            }
            #expect(body(1000).utf8.count == 1000)
            // The state is bounded as well: this one has members that the body has not.
            let atLimit = try await client.patch(Paths.profile, body(1000))
            #expect(atLimit.status == 413)
            #expect(atLimit.code == "state_too_large")
            #expect(try await client.patch(Paths.profile, body(900)).status == 200)
            let over = try await client.patch(Paths.profile, body(1001))
            #expect(over.status == 413)
            #expect(over.code == "body_too_large")
            #expect(
                (try over.json[member: "detail"]?.string ?? "").contains(
                    "1000 bytes. limits.body_bytes sets this limit of the public"))
            #expect(over["Connection"]?.lowercased() == "close")
            #expect(try await client.get(Paths.profile)["ETag"] == "\"2\"")
        }
    }

    @Test("a state may have just as many bytes as configured, 64 KiB by default, however it is written")
    func states() async throws {
        try await withSession(services: [try ServiceFile(name: "notes")]) { client in
            func text(_ size: Int) -> String { "\"\(String(repeating: "x", count: size - 2))\"" }
            let notes = Paths.service("notes")
            #expect(try await client.send("PUT", notes, json: text(65_536)).status == 200)
            let over = try await client.send("PUT", notes, json: text(65_537))
            #expect(over.status == 413)
            #expect(over.code == "state_too_large")
            let list = #"["\#(String(repeating: "x", count: 65_000))"]"#
            #expect(try await client.send("PUT", notes, json: list).status == 200)
            let copy = #"[{"op":"copy","from":"/0","path":"/-"}]"#
            let twice = try await client.send(
                "PATCH", notes, json: copy, fields: [("Content-Type", "application/json-patch+json")])
            #expect(twice.status == 413)
            let transaction = #"{"operations":[{"op":"patch","service":"notes","value":\#(copy)}]}"#
            #expect(try await client.send("POST", Paths.transactions, json: transaction).status == 413)
            #expect(try await client.get(notes).body.count == list.utf8.count)
        }
    }

    @Test("a JSON Patch has at most 1,000 operations, and those of a transaction share their work")
    func patches() async throws {
        try await withSession(services: [try ServiceFile(name: "notes")]) { client in
            let notes = Paths.service("notes")
            func operations(_ count: Int) -> String {
                "[\(Array(repeating: #"{"op":"add","path":"/0","value":0}"#, count: count).joined(separator: ","))]"
            }
            func patch(_ count: Int) async throws -> TestResponse {
                try await client.send(
                    "PATCH", notes, json: operations(count), fields: [("Content-Type", "application/json-patch+json")])
            }
            #expect(try await client.send("PUT", notes, json: "[]").status == 200)
            #expect(try await patch(1_000).status == 200)
            let over = try await patch(1_001)
            #expect(over.status == 400)
            #expect(over.code == "invalid_patch")
            #expect(over.pointers == ["/1000"])
            // Each moves some 9,000 to 10,000 elements 100 times.
            let zeros = "[\(Array(repeating: "0", count: 9_000).joined(separator: ","))]"
            #expect(try await client.send("PUT", notes, json: zeros).status == 200)
            let patches = Array(
                repeating: #"{"op":"patch","service":"notes","value":\#(operations(100))}"#, count: 3
            ).joined(separator: ",")
            let refused = try await client.send("POST", Paths.transactions, json: #"{"operations":[\#(patches)]}"#)
            #expect(refused.status == 413)
            #expect(refused.pointers == ["/operations/1/value"])
            #expect(try await patch(100).status == 200)
        }
    }

    @Test("a connection that does not get on is closed", arguments: ["", "GET / HTTP/1.1\r\nHost:"])
    func deadlines(beginning: String) async throws {
        try await withApplication { configuration in
            configuration.timeouts.header = .milliseconds(100)
            configuration.timeouts.idle = .milliseconds(100)
        } _: { app in
            let port = app.publicPort
            try await blocking {
                let connection = try RawConnection(port: port)
                try connection.send(beginning)
                _ = try connection.readToEnd()
            }
        }
    }
}
