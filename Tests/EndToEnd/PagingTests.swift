import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Lists")
struct PagingTests {
    /// All pages, one after the other.
    private static func pages(
        _ client: TestClient, _ path: String, limit: Int, name: String = "id"
    ) async throws -> [[String]] {
        var pages: [[String]] = []
        var cursor: String?
        repeat {
            let separator = path.contains("?") ? "&" : "?"
            let page = try await client.get(
                "\(path)\(separator)limit=\(limit)" + (cursor.map { "&cursor=\($0)" } ?? ""))
            #expect(page.status == 200)
            pages.append(page.items.compactMap { $0[string: name] })
            cursor = page[member: "next"]?.string
            #expect(cursor?.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil || cursor == nil, "needs no escapes in a query")
            if let id = pages.last?.last, id.hasPrefix("ses_") { #expect(cursor?.contains(id.dropFirst(4)) != true) }
            #expect(try page.json.names == (cursor == nil ? ["items"] : ["items", "next"]))
        } while cursor != nil
        return pages
    }

    @Test("a user's sessions are paged on both listeners, and the admin's list can be filtered")
    func filtered() async throws {
        try await withApplication { app in
            var ids: Set<String> = []
            var token = ""
            for number in 0..<6 {
                let id = try await app.newSession().id
                let user = number % 2 == 0 ? "ada" : "grace"
                let fresh = try await app.signIn(user, to: id)
                if user == "ada" {
                    ids.insert(id)
                    token = fresh
                }
            }
            _ = try await app.newSession()
            let own = app.client().with(token: token)
            for (client, path) in [
                (own, "/v1/sessions"), (app.admin(), "/v1/sessions?user_id=ada"),
                (app.admin(), "/v1/users/ada/sessions"), (app.admin(), "/v1/sessions?user_id=ada&active=true"),
            ] {
                let pages = try await Self.pages(client, path, limit: 2)
                #expect(pages.map(\.count) == [2, 1], "\(path)")
                #expect(Set(pages.flatMap { $0 }) == ids, "\(path)")
            }
            #expect(try await app.admin().get("/v1/sessions?user_id=nobody").items.isEmpty)
            #expect(try await app.admin().get("/v1/sessions?active=true").items.count == 7)
            #expect(try await app.admin().get("/v1/sessions?active=false").items.isEmpty)
        }
    }

    @Test(
        "an argument that is none is 400",
        arguments: [
            ("limit=0", "/limit"), ("limit=101", "/limit"), ("limit=x", "/limit"), ("limit=-1", "/limit"),
            ("limit=", "/limit"), ("limit=1&limit=2", "/limit"), ("cursor=x", "/cursor"), ("cursor=", "/cursor"),
            ("page=2", "/page"),
            ("active=maybe", "/active"),
        ])
    func arguments(query: String, pointer: String) async throws {
        try await withApplication { app in
            let answer = try await app.admin().get("/v1/sessions?\(query)")
            #expect(answer.status == 400)
            #expect(answer.code == "invalid_input")
            #expect(answer.pointers == [pointer])
        }
    }

    @Test(
        "an argument that the endpoint does not declare, or that is given twice, is 400 and named",
        arguments: [
            ("GET", "/v1/sessions/current", "x=1", ["/x"]), ("GET", "/v1/flows", "limit=1&page=2", ["/page"]),
            ("GET", Paths.profile, "limit=1", ["/limit"]), ("PUT", Paths.profile, "x&y=2", ["/x", "/y"]),
            ("POST", Paths.transactions, "a~b/c=1", ["/a~0b~1c"]), ("DELETE", Paths.current, "=", ["/"]),
            ("GET", Paths.journeys, "limit=1&limit=1", ["/limit"]), ("HEAD", Paths.profile, "x=1", []),
            ("GET", "/version", "x=1", ["/x"]),
        ])
    func undeclared(method: String, path: String, query: String, pointers: [String]) async throws {
        try await withSession { client in
            let json = method == "PUT" || method == "POST" ? "{}" : nil
            let answer = try await client.send(method, "\(path)?\(query)", json: json)
            #expect(answer.status == 400)
            if method != "HEAD" { #expect(answer.code == "invalid_input" && answer.pointers == pointers) }
            #expect(try await client.get(Paths.current + "?").status == 200, "an empty query has no argument")
        }
    }

    /// Everything that the application has many of, and what names an item there.
    private static func withLists(
        _ body: (TestClient, _ path: String, _ name: String) async throws -> Void
    ) async throws {
        let flows = ["a", "b", "c", "d", "e"].map {
            #"{"id":"\#($0)","version":1,"initial":"a","states":{"a":{"on":{"end":{"target":"z"}}},"z":{"type":"final"}}}"#
        }
        try await withApplication(flows: flows) { app in
            let (client, id, _) = try await app.newSession()
            for flow in ["c", "a", "b"] { _ = try await client.start(flow) }
            for (client, path, name) in [
                (app.client(), "/v1/flows", "id"), (client, Paths.services, "name"), (client, Paths.journeys, "id"),
                (app.admin(), "/v1/sessions/\(id)/services", "name"),
                (app.admin(), "/v1/sessions/\(id)/journeys", "id"), (app.admin(), "/v1/service-kinds", "name"),
            ] {
                try await body(client, path, name)
            }
        }
    }

    @Test(
        "lists of flows, services and journeys are paged like those of sessions, in their order", arguments: [1, 2, 7])
    func otherLists(limit: Int) async throws {
        try await Self.withLists { client, path, name in
            let all = try await client.get(path).items.compactMap { $0[string: name] }
            #expect(all.count >= 3)
            let pages = try await Self.pages(client, path, limit: limit, name: name)
            #expect(pages.flatMap { $0 } == all, "\(path)")
            #expect(pages.dropLast().allSatisfy { $0.count == limit }, "\(path)")
        }
    }

    @Test(
        "arguments that are none are 400 on every list",
        arguments: [
            "limit=0", "limit=x", "cursor=x", "cursor=", "cursor=0-0", "cursor=-1-1", "cursor=1-", "cursor=01-1",
            "cursor=zzzzzzzzzzzzzzzz-1", "page=2",
        ])
    func otherArguments(query: String) async throws {
        try await Self.withLists { client, path, _ in
            let answer = try await client.get("\(path)?\(query)")
            #expect(answer.status == 400, "\(path)")
            #expect(answer.code == "invalid_input")
        }
    }

    @Test("a list goes on where it was when what stood there is gone")
    func goneInBetween() async throws {
        let flow =
            #"{"id":"a","version":1,"initial":"a","states":{"a":{"on":{"end":{"target":"z"}}},"z":{"type":"final"}}}"#
        try await withSession(flows: [flow]) { client in
            var ids: [String] = []
            for _ in 0..<4 {
                ids.append(try #require(try await client.start("a").split(separator: "/").last.map(String.init)))
            }
            let page = try await client.get("\(Paths.journeys)?limit=2")
            #expect(page.items.compactMap { $0[string: "id"] } == Array(ids[..<2]))
            let next = try #require(page[member: "next"]?.string)
            #expect(next.wholeMatch(of: /[A-Za-z0-9_-]+/) != nil, "needs no escapes in a query")
            #expect(!next.contains(ids[1]))
            try await client.send("DELETE", Paths.journey(ids[1]))
            let rest = try await client.get("\(Paths.journeys)?limit=2&cursor=\(next)")
            #expect(rest.items.compactMap { $0[string: "id"] } == Array(ids[2...]))
        }
    }
}
