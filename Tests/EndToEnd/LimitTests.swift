import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Limits")
struct LimitTests {
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
                if target.contains("&") {
                    #expect((answer.code == "too_many_arguments") == (target.split(separator: "&").count > 4))
                }
            }
            #expect(try await app.client().get("/version").status == 200)
        }
    }

    @Test("a body may have just as many bytes as configured, and not one more")
    func bodies() async throws {
        try await withApplication { configuration in
            configuration.limits.bodyBytes = 1000
        } _: { app in
            let client = try await app.newSession().client
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
            #expect(over["Connection"]?.lowercased() == "close")
            #expect(try await client.get(Paths.profile)["ETag"] == "\"2\"")
        }
    }

    @Test("a body in chunks is read like any other, and bounded like it")
    func chunks() async throws {
        try await withApplication { configuration in
            configuration.limits.bodyBytes = 100
        } _: { app in
            let client = try await app.newSession().client
            func put(_ chunks: [String]) async throws -> TestResponse {
                var request = client.request(
                    "PATCH", Paths.profile,
                    fields: [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
                for chunk in chunks { request += Array("\(String(chunk.utf8.count, radix: 16))\r\n\(chunk)\r\n".utf8) }
                return try await client.send(request + Array("0\r\n\r\n".utf8), "PATCH", Paths.profile)
            }
            #expect(try await put([#"{"na"#, #"me":"A"#, #"da"}"#])[member: "name"] == "Ada")
            #expect(try await put([#"{"name":""#, String(repeating: "x", count: 100), #""}"#]).status == 413)
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
