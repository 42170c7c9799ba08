import Configuration
import JSONDocument
import Support
import Testing

@Suite("Services of a session")
struct ServiceTests {
    @Test("the list shows what can be had and what lives, and makes nothing")
    func list() async throws {
        try await withApplication(services: [try ServiceFile(name: "notes", lifetime: .seconds(3600))]) { app in
            let client = try await app.newSession().client
            for _ in 0..<2 {
                let list = try await client.get(Paths.services)
                #expect(list.status == 200)
                #expect(
                    list.items.map { $0[string: "name"] } == [
                        "profile", "temporary-profile", "quote", "user", "coordinator", "notes",
                    ])
                #expect(
                    list.items.map { $0[string: "kind"] } == [
                        "profile", "profile", "quote", "user", "coordinator", "document",
                    ])
                for item in list.items {
                    #expect(item.names == ["name", "kind", "scope", "commands", "status", "etag"])
                    #expect(item[string: "status"] == "registered")
                    #expect(item[string: "etag"] == "\"0\"")
                }
            }
            #expect(try await app.admin().get("/v1/stats")[member: "services"]?[member: "profile"]?.int == 0)

            try await client.get(Paths.quote)
            let read = try #require(try await client.listing(of: "quote"))
            #expect(read.names == ["name", "kind", "scope", "commands", "status", "etag", "created_at"])
            #expect(read[string: "status"] == "live")
            #expect(read[string: "etag"] == "\"0\"")

            let written = try await client.patch(Paths.service("notes"), #"{"a":1}"#)
            let notes = try #require(try await client.listing(of: "notes"))
            #expect(
                notes.names == [
                    "name", "kind", "scope", "commands", "status", "etag", "created_at", "updated_at", "expires_at",
                ])
            #expect(notes[string: "etag"] == written["ETag"])
            for time in ["created_at", "updated_at", "expires_at"] { #expect(isTimestamp(notes[string: time])) }
        }
    }

    @Test("a name that is not registered is 404", arguments: ["nope", "Profile", "profile%20", "profile.json"])
    func unknown(name: String) async throws {
        try await withSession { client in
            let answers = [
                try await client.get(Paths.service(name)),
                try await client.send("PUT", Paths.service(name), json: "{}"),
                try await client.patch(Paths.service(name), "{}"),
                try await client.send("DELETE", Paths.service(name)),
                try await client.send("DELETE", Paths.service(name) + "/state"),
            ]
            for answer in answers {
                #expect(answer.status == 404)
                #expect(answer.code == "service_not_found")
            }
        }
    }

    @Test("PUT replaces the state, PATCH changes it; both show it with its new ETag")
    func writes() async throws {
        try await withSession { client in
            let full = #"{"name":"Ada","email":"ada@example.org","locale":"en-GB","attributes":{"a":[1,{"b":null}]}}"#
            let put = try await client.send("PUT", Paths.profile, json: full)
            #expect(put.status == 200)
            #expect(try put.json == (try JSONDocument(parsing: full)))
            #expect(put["ETag"] == "\"2\"")
            let patched = try await client.patch(Paths.profile, #"{"name":"Ada Lovelace","attributes":{"a":null}}"#)
            #expect(patched.status == 200)
            #expect(patched[member: "name"] == "Ada Lovelace")
            #expect(patched[member: "email"] == "ada@example.org")
            #expect(patched[member: "attributes"] == .emptyObject)
            #expect(patched["ETag"] == "\"3\"")
            let read = try await client.get(Paths.profile)
            #expect(read.body == patched.body)
            #expect(read["ETag"] == "\"3\"")
            #expect(try await client.revision() == 3)
        }
    }

    @Test("of very many violations the first are listed, and it is said that there are more", arguments: [32, 33, 100])
    func manyViolations(count: Int) async throws {
        try await withSession { client in
            let members = (0..<count).map { #""x\#($0)":1"# }.joined(separator: ",")
            let answer = try await client.patch(Paths.profile, "{\(members)}")
            #expect(answer.status == 400 && answer.code == "invalid_state")
            #expect(try answer.json[member: "errors"]?.count == 32)
            let detail = try #require(answer[member: "detail"]?.string)
            #expect(detail.contains("the first 32 errors are listed") == (count > 32), "\(detail)")
        }
    }

    @Test("what does not fit is 400 with an entry for each violation, and the state stays as it was")
    func violations() async throws {
        try await withSession { client in
            let good = try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let refused = try await client.send(
                "PUT", Paths.profile,
                json: #"{"name":1,"email":[],"locale":null,"attributes":{},"age":3}"#)
            #expect(refused.status == 400)
            #expect(refused.code == "invalid_state")
            #expect(Set(refused.pointers) == ["/name", "/email", "/age"])
            #expect(refused["ETag"] == nil)
            let patched = try await client.patch(Paths.profile, #"{"attributes":"x"}"#)
            #expect(patched.status == 400)
            #expect(patched.pointers == ["/attributes"])
            let whole = try await client.send("PUT", Paths.profile, json: "[]")
            #expect(whole.status == 400)
            #expect(whole.pointers == [""])
            let now = try await client.get(Paths.profile)
            #expect(now.body == good.body)
            #expect(now["ETag"] == good["ETag"])
        }
    }

    @Test("a write of a profile may leave members out: they are those of the default")
    func completes() async throws {
        try await withApplication { app in
            for name in ["profile", "temporary-profile"] {
                let client = try await app.newSession().client
                let path = Paths.service(name)
                let put = try await client.send("PUT", path, json: #"{"name":"Ada"}"#)
                #expect(put.status == 200)
                #expect(try put.json == ["name": "Ada", "email": nil, "locale": nil, "attributes": .emptyObject])
                try await client.patch(path, #"{"email":"ada@example.org"}"#)
                let removed = try await client.patch(path, #"{"email":null}"#)
                #expect(removed.status == 200)
                #expect(try removed.json == put.json)
                let patched = try await client.send(
                    "PATCH", path, json: #"[{"op":"remove","path":"/name"}]"#,
                    fields: [("Content-Type", "application/json-patch+json")])
                #expect(try patched.json == defaultProfile)
                #expect(try await client.get(path).body == patched.body)
                let empty = try await client.send("PUT", path, json: "{}")
                #expect(try empty.json == defaultProfile)
                // What is there, and wrong, is not mended.
                let wrong = try await client.send("PUT", path, json: #"{"name":null,"nick":"A"}"#)
                #expect(wrong.status == 400)
                #expect(Set(wrong.pointers) == ["/name", "/nick"])
            }
        }
    }

    @Test("clear puts the instance back to its default, as a write; remove takes it out, and all of them; 204 for none")
    func clearAndRemove() async throws {
        let clock = SteeredClock()
        try await withSession(clock: clock) { client in
            for path in [Paths.profile, Paths.profile + "/state", Paths.services] {
                #expect(try await client.send("DELETE", path).status == 204)
            }
            #expect(try await client.listing(of: "profile")?[string: "status"] == "registered")
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let created = try await client.listing(of: "profile")?[string: "created_at"]
            clock.advance(.milliseconds(5))
            let cleared = try await client.send("DELETE", Paths.profile + "/state")
            #expect(cleared.status == 204 && cleared["ETag"] == "\"3\"")
            let read = try await client.get(Paths.profile)
            #expect(try read.json == defaultProfile && read["ETag"] == "\"3\"")
            #expect(try await client.listing(of: "profile")?[string: "created_at"] == created)
            #expect(try await client.send("DELETE", Paths.profile).status == 204)
            let gone = try await client.listing(of: "profile")
            #expect(gone?.names == ["name", "kind", "scope", "commands", "status", "etag"])
            #expect(try await client.get(Paths.profile)["ETag"] == "\"0\"")
            #expect(try await client.listing(of: "profile")?[string: "created_at"] != created)
            for name in ["profile", "quote"] { try await client.patch(Paths.service(name), "{}") }
            #expect(try await client.send("DELETE", Paths.services).status == 204)
            let items = try await client.get(Paths.services).items
            #expect(items.allSatisfy { $0[string: "status"] == "registered" && $0[string: "etag"] == "\"0\"" })
        }
    }

    @Test("user can only be read by clients")
    func readOnly() async throws {
        try await withSession { client in
            let answers = [
                try await client.send("PUT", Paths.user, json: #"{"id":"root","authenticated":true,"claims":{}}"#),
                try await client.patch(Paths.user, #"{"authenticated":true}"#),
                try await client.send("DELETE", Paths.user), try await client.send("DELETE", Paths.user + "/state"),
            ]
            for answer in answers { #expect(answer.status == 405) }
            let readable = "GET, HEAD, OPTIONS"
            #expect(answers.map { $0["Allow"] } == [readable, readable, readable, "OPTIONS"])
            #expect(try await client.get(Paths.user)[member: "authenticated"] == false)
        }
    }

    @Test("a document service has the name, schema, default, lifetime and concurrency that were declared")
    func declared() async throws {
        let basket = try ServiceFile(
            name: "basket",
            schema: [
                "type": "object", "required": ["items"], "additionalProperties": false,
                "properties": ["items": ["type": "array", "items": ["type": "string"], "maxItems": 2]],
            ],
            default: ["items": ["bread"]], lifetime: .seconds(60), concurrency: .firstWrite)
        let clock = SteeredClock()
        try await withSession(services: [basket], clock: clock) { client in
            let path = Paths.service("basket")
            #expect(try await client.get(path).json == ["items": ["bread"]])
            let needed = try await client.send("PUT", path, json: #"{"items":[]}"#)
            #expect(needed.status == 428)
            #expect(needed.code == "precondition_required")
            #expect(try await client.patch(path, #"{"items":[]}"#).status == 428)
            let first = [("If-Match", "\"0\"")]
            let wrong = try await client.send("PUT", path, json: #"{"items":["a",1],"total":0}"#, fields: first)
            #expect(wrong.status == 400)
            #expect(Set(wrong.pointers) == ["/items/1", "/total"])
            clock.advance(.seconds(20))
            let put = try await client.send("PUT", path, json: #"{"items":["a"]}"#, fields: first)
            #expect(put.status == 200)
            // Clear and remove depend on no content.
            #expect(try await client.send("DELETE", path + "/state").status == 204)
            clock.advance(.milliseconds(39_999))
            #expect(try await client.get(path)["ETag"] == "\"3\"")
            // Counted from when it was made, which was the first GET.
            clock.advance(.milliseconds(1))
            let clean = try await client.get(path)
            #expect(clean["ETag"] == "\"0\"")
            #expect(try clean.json == ["items": ["bread"]])
        }
    }
}
