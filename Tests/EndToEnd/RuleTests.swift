import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What holds for every answer, API section 1. Much of it is checked on every answer of every test, by `TestClient`.
@Suite("Rules for every answer")
struct RuleTests {
    @Test(
        "Request-Id is the client's own where that is 1 to 128 of A-Za-z0-9._-, and a fresh one elsewhere",
        arguments: [
            ("abc", true), ("A.b_c-9", true), (String(repeating: "x", count: 128), true),
            (String(repeating: "x", count: 129), false), ("", false), ("a b", false), ("a/b", false), ("a\"b", false),
        ])
    func requestID(id: String, isEchoed: Bool) async throws {
        try await withApplication { app in
            for path in ["/version", "/nowhere", Paths.current] {
                let answer = try await app.client().get(path, fields: [("Request-Id", id)])
                #expect((answer["Request-Id"] == id) == isEchoed)
                #expect(answer["Request-Id"]?.wholeMatch(of: /[A-Za-z0-9._-]{1,128}/) != nil)
            }
        }
    }

    @Test("request ids differ")
    func differentIDs() async throws {
        try await withApplication { app in
            var ids: Set<String> = []
            for _ in 0..<50 { ids.insert(try #require(try await app.client().get("/version")["Request-Id"])) }
            #expect(ids.count == 50)
        }
    }

    @Test("HEAD is wherever GET is, with the same fields and no body")
    func head() async throws {
        try await withApplication { app in
            let (client, id, _) = try await app.newSession()
            let paths = [Paths.current, Paths.services, Paths.profile, "/version", "/health/ready", "/openapi.json"]
            let adminPaths = ["/v1/sessions", "/v1/sessions/\(id)", "/v1/stats", "/v1/service-kinds", "/metrics"]
            for (client, path) in paths.map({ (client, $0) }) + adminPaths.map({ (app.admin(), $0) }) {
                let get = try await client.get(path)
                let head = try await client.send("HEAD", path)
                #expect(get.status == 200)
                #expect(head.status == 200)
                #expect(head.body.isEmpty)
                #expect(head.fieldNames == get.fieldNames)
                #expect(head["ETag"] == get["ETag"])
                // These tell the time in their bodies, and a number may get a digit more in between.
                guard path != "/metrics", path != "/v1/stats" else { continue }
                #expect(head["Content-Length"] == get["Content-Length"], "\(path)")
            }
        }
    }

    @Test(
        "OPTIONS is 204 with Allow, another method 405 with Allow, without any token",
        arguments: [
            (Paths.sessions, ["DELETE", "GET", "HEAD", "OPTIONS", "POST"], "PUT"),
            (Paths.current, ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH"], "POST"),
            (Paths.tokens, ["OPTIONS", "POST"], "GET"), (Paths.transactions, ["OPTIONS", "POST"], "DELETE"),
            (Paths.services, ["DELETE", "GET", "HEAD", "OPTIONS"], "PATCH"),
            (Paths.profile, ["DELETE", "GET", "HEAD", "OPTIONS", "PATCH", "PUT"], "POST"),
            (Paths.profile + "/state", ["DELETE", "OPTIONS"], "GET"),
            (Paths.user, ["GET", "HEAD", "OPTIONS"], "POST"), (Paths.user + "/state", ["OPTIONS"], "GET"),
            (Paths.service("%75ser"), ["GET", "HEAD", "OPTIONS"], "POST"),
            ("/version", ["GET", "HEAD", "OPTIONS"], "DELETE"),
        ])
    func methods(path: String, allowed: [String], other: String) async throws {
        try await withApplication { app in
            func allow(_ answer: TestResponse) -> [String] {
                (answer["Allow"] ?? "").split(separator: ",").map { $0.filter { $0 != " " } }.sorted()
            }
            let options = try await app.client().send("OPTIONS", path)
            #expect(options.status == 204)
            #expect(allow(options) == allowed)
            for method in [other, "TRACE", "CONNECT", "BREW"] {
                let refused = try await app.client().send(method, path)
                #expect(refused.status == 405, "\(method)")
                // CONNECT asks for no path (RFC 9112, section 3.2.3): its answer has what is possible anywhere.
                if method == "CONNECT" {
                    #expect(Set(allow(refused)).isSuperset(of: allowed))
                } else {
                    #expect(allow(refused) == allowed, "\(method)")
                }
            }
        }
    }

    @Test("an unknown path is 404, whatever the method", arguments: ["GET", "POST", "DELETE", "PATCH"])
    func unknownPath(method: String) async throws {
        try await withApplication { app in
            for path in ["/", "/v1", "/v2/sessions", "/v1/session", "/v1/sessions/", "/v1//sessions", "/version/x"] {
                let answer = try await app.client().send(method, path)
                #expect(answer.status == 404, "\(path)")
                #expect(answer.code == "not_found", "\(path)")
            }
        }
    }

    @Test("a service that there is none of is 404 to OPTIONS and to methods that no service has, too")
    func unknownService() async throws {
        try await withApplication { app in
            for path in [Paths.service("nothing"), Paths.service("nothing") + "/state", Paths.service("%70rofil")] {
                for method in ["OPTIONS", "POST", "BREW"] {
                    let answer = try await app.client().send(method, path)
                    #expect(answer.status == 404 && answer.code == "service_not_found", "\(method) \(path)")
                    #expect(answer["Allow"] == nil)
                }
                #expect(try await app.client().send("TRACE", path).status == 405)
            }
        }
    }

    @Test(
        "JSON is taken as RFC 8259 and 7493 have it, and not otherwise",
        arguments: [
            "", "{", "{}{}", "[1,]", "{\"a\":1,}", "{'a':1}", "{\"a\":01}", "{\"a\":+1}", "{\"a\":.5}", "{\"a\":1.}",
            "NaN", "{\"a\":Infinity}", "// x\n{}", "{\"a\":\"\t\"}", #"{"a":1,"a":2}"#, #"{"a":{"b":1,"b":1}}"#,
            #"{"a":1,"\u0061":2}"#, "\u{FEFF}{}", #"{"a":"\ud800"}"#, #"{"a":"\udc00\ud800"}"#, #"{"a":"\x41"}"#,
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65), "{\"a\":1}\u{0}", "{} x",
        ])
    func strictJSON(text: String) async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let answers = [
                try await client.send("PUT", Paths.profile, json: text),
                try await client.send("PATCH", Paths.profile, json: text),
                try await client.send("POST", Paths.transactions, json: text),
            ]
            for answer in answers {
                #expect(answer.status == 400)
                #expect(answer.code == "invalid_json")
            }
        }
    }

    @Test(
        "invalid UTF-8 is 400",
        arguments: [[0xFF], [0xC0, 0xAF], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80], [0xC3]])
    func invalidUTF8(bytes: [UInt8]) async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            let body = Array(#"{"name":""#.utf8) + bytes + Array(#""}"#.utf8)
            var request = client.request("PUT", Paths.profile, fields: [("Content-Type", "application/json")])
            request.removeLast(2)
            request += Array("Content-Length: \(body.count)\r\n\r\n".utf8) + body
            let answer = try await client.send(request, "PUT", Paths.profile)
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_json")
        }
    }

    @Test("64 levels are possible, and every string comes back as it was sent")
    func json() async throws {
        try await withApplication(services: [try .init(name: "anything")]) { app in
            let client = try await app.newSession().client
            for text in [
                String(repeating: "[", count: 64) + String(repeating: "]", count: 64), #""\u0000\u001f\"\\/""#,
                "\"\u{1F469}\u{200D}\u{1F4BB} e\u{301}\"", "-0.5e-7", "1.25e3",
                "9007199254740993", "null", "true",
            ] {
                let put = try await client.send("PUT", Paths.service("anything"), json: text)
                #expect(put.status == 200, "\(text)")
                #expect(try put.json == (try JSONDocument(parsing: text)))
                #expect(try await client.get(Paths.service("anything")).body == put.body)
            }
        }
    }

    @Test(
        "a body of another type, or of none, is 415",
        arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/merge-patch+json", "json"])
    func types(type: String?) async throws {
        try await withApplication { app in
            let client = try await app.newSession().client
            for (method, path) in [
                ("PUT", Paths.profile), ("POST", Paths.transactions), ("POST", Paths.sessions),
                ("PATCH", Paths.profile),
            ] where !(method == "PATCH" && type == "application/merge-patch+json") {
                var request = client.request(method, path, fields: type.map { [("Content-Type", $0)] } ?? [])
                request.removeLast(2)
                request += Array("Content-Length: 2\r\n\r\n{}".utf8)
                let answer = try await client.send(request, method, path)
                #expect(answer.status == 415)
                #expect(answer.code == "unsupported_media_type")
                #expect((answer["Accept-Patch"] != nil) == (method == "PATCH"))
            }
        }
    }

    @Test("every answer that has to do with a session is not to be stored")
    func noStore() async throws {
        try await withApplication { app in
            // `TestClient` checks it on every path under /v1: here are those that carry a token.
            let created = try await app.client().send("POST", Paths.sessions)
            #expect(created["Cache-Control"] == "no-store")
            let client = app.client().with(token: created[member: "token"]?.string ?? "")
            #expect(try await client.send("POST", Paths.tokens)["Cache-Control"] == "no-store")
            #expect(
                try await client.get(Paths.profile, fields: [("If-None-Match", "*")])["Cache-Control"] == "no-store")
            #expect(try await client.send("DELETE", Paths.current)["Cache-Control"] == "no-store")
        }
    }
}
