import HTTPTestClient
import JSONDocument
import Support
import Testing

/// What holds for every answer, API section 1. Much of it is checked on every answer of every test, by `TestClient`.
@Suite("Rules for every answer")
struct RuleTests {
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
            for path in ["/v1", "/v2/sessions", "/v1/session", "/v1/sessions/", "/v1//sessions", "/version/x"] {
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
            "", "{", "[1,]", "// x\n{}", #"{"a":1,"a":2}"#, "\u{FEFF}{}", #"{"a":"\ud800"}"#,
            String(repeating: "[", count: 65) + String(repeating: "]", count: 65),
        ])
    func strictJSON(text: String) async throws {
        try await withSession { client in
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
        "a body of another type, or of none, is 415",
        arguments: [nil, "text/plain", "application/x-www-form-urlencoded", "application/merge-patch+json", "json"])
    func types(type: String?) async throws {
        try await withSession { client in
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
}

@Suite("Prefer")
struct PreferTests {
    @Test(
        "return=minimal turns a 200 with a body into a 204 that says so",
        arguments: [
            "return=minimal", "Return=Minimal", "wait=1, return=minimal", "return=minimal; foo", "return=\"minimal\"",
        ])
    func minimal(value: String) async throws {
        try await withSession { client in
            let prefer = [("Prefer", value)]
            let put = try await client.send("PUT", Paths.profile, json: #"{"name":"A"}"#, fields: prefer)
            #expect(put["ETag"] == "\"2\"")
            let patch = try await client.patch(Paths.profile, #"{"name":"B"}"#, fields: prefer)
            #expect(patch["ETag"] == "\"3\"")
            let labels = try await client.patch(Paths.current, #"{"labels":{"a":"b"}}"#, fields: prefer)
            let transaction = try await client.send(
                "POST", Paths.transactions, json: #"{"operations":[{"op":"clear","service":"quote"}]}"#, fields: prefer)
            for answer in [put, patch, labels, transaction] {
                #expect(answer.status == 204)
                #expect(answer["Preference-Applied"] == "return=minimal")
                #expect(answer["Content-Type"] == nil)
            }
            #expect(try await client.get(Paths.profile)[member: "name"] == "B")
        }
    }

    @Test("other preferences are passed over", arguments: ["return=representation", "respond-async", "return", ""])
    func others(value: String) async throws {
        try await withSession { client in
            let answer = try await client.patch(Paths.profile, #"{"name":"B"}"#, fields: [("Prefer", value)])
            #expect(answer.status == 200)
            #expect(answer["Preference-Applied"] == nil)
            #expect(answer[member: "name"] == "B")
        }
    }

    @Test("errors have their body all the same")
    func errors() async throws {
        try await withSession { client in
            let answer = try await client.patch(
                Paths.profile, #"{"name":1}"#, fields: [("Prefer", "return=minimal")])
            #expect(answer.status == 400)
            #expect(answer.pointers == ["/name"])
        }
    }
}
