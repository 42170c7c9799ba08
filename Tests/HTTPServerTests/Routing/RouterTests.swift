import Testing

@testable import HTTPServer

/// What a router makes of a method and a target, without a socket.
@Suite("A router")
struct RouterTests {
    private static func router() throws -> Router {
        var routes = RouterBuilder()
        let answer: HTTPHandler = { _ in .response(HTTPResponse()) }
        for (method, pattern) in [
            (HTTPMethod.get, "/"), (.get, "/things"), (.post, "/things"), (.get, "/things/{id}"),
            (.delete, "/things/{id}"), (.get, "/things/{id}/parts/{n:int}"), (.put, "/ä b"), (.options, "/own"),
            (.get, "/own"), (.head, "/head"), (.get, "/head"), (.post, "/jobs/all"), (.post, "/jobs/{id}/end"),
        ] {
            routes.on(method, pattern, handler: answer)
        }
        return try routes.freeze()
    }

    /// A short text of what was decided.
    private static func decision(_ method: HTTPMethod, _ target: String, _ router: Router) -> String {
        let fields = HTTPRequestFields(target: target, fields: [])
        switch router.decide(router.find(method, fields), method, fields) {
        case .handle(let match):
            let pattern = match.route?.pattern
            let values = (0..<(pattern?.parameterNames.count ?? 0)).map {
                let span = match.parameters[$0]
                return String(decoding: fields.slice(Int(span.lowerBound)..<Int(span.upperBound)), as: UTF8.self)
            }
            return "\(match.route?.method.description ?? "-") \(pattern?.text ?? "-") \(values.joined(separator: ","))"
        case .tell(_, let allow): return (method == .options ? "204 " : "405 ") + allow
        case .refuse(let error):
            return "\(error.status.code)" + (error.fields[.allow].map { " " + $0 } ?? "")
        }
    }

    @Test(
        "finds what fits",
        arguments: [
            (HTTPMethod.get, "/", "GET / "), (.get, "/?a=b", "GET / "), (.get, "/things", "GET /things "),
            (.post, "/things", "POST /things "), (.get, "/things/1", "GET /things/{id} 1"),
            (.delete, "/things/a%20b", "DELETE /things/{id} a%20b"),
            (.get, "/things/%C3%A4", "GET /things/{id} %C3%A4"),
            (.get, "/%74hings", "GET /things "), (.get, "/t%68ings/x", "GET /things/{id} x"),
            (.post, "/jobs/all", "POST /jobs/all "), (.post, "/jobs/%61ll", "POST /jobs/all "),
            (.post, "/jobs/al/end", "POST /jobs/{id}/end al"),
            (.put, "/%C3%A4%20b", "PUT /ä b "), (.put, "/%c3%a4%20b", "PUT /ä b "),
            (.get, "/things/1/parts/2", "GET /things/{id}/parts/{n:int} 1,2"),
            (.get, "/things/1/parts/007", "GET /things/{id}/parts/{n:int} 1,007"),
            (.head, "/things", "GET /things "), (.head, "/head", "HEAD /head "), (.options, "/own", "OPTIONS /own "),
            (.get, "http://h/things/1?a", "GET /things/{id} 1"), (.get, "HTTPS://h:1/", "GET / "),
        ])
    func finds(method: HTTPMethod, target: String, expected: String) throws {
        #expect(Self.decision(method, target, try Self.router()) == expected)
    }

    @Test(
        "says which path there is without a slash too many",
        arguments: [
            ("//things", "/things"), ("/things/", "/things"), ("//things//1/?a", "/things/1"), ("//nowhere", nil),
            ("/nowhere/", nil), ("/nowhere", nil),
        ])
    func slashes(target: String, path: String?) throws {
        let router = try Self.router()
        let fields = HTTPRequestFields(target: target, fields: [])
        guard case .refuse(let error) = router.decide(router.find(.get, fields), .get, fields) else {
            Issue.record("\(target) was found")
            return
        }
        #expect(error.status == .notFound)
        #expect(error.detail.contains("slash too many") == (path != nil))
        if let path { #expect(error.detail.hasSuffix("; \(path) is one.")) }
    }

    @Test(
        "finds nothing where nothing is",
        arguments: [
            "/nothing", "/things/", "/things//", "//", "//things", "/Things", "/things/1/", "/things/1/parts",
            "/things/1/parts/", "/things/1/parts/x", "/things/1/parts/-1", "/things/1/parts/+1", "/things/1/parts/1.0",
            "/things/1/parts/9223372036854775808", "/things/1/parts/2/3", "/things/1/parts/%2D1", "/things%3F",
        ])
    func findsNothing(target: String) throws {
        #expect(Self.decision(.get, target, try Self.router()) == "404")
    }

    @Test(
        "refuses paths that somebody might read in another way",
        arguments: [
            "/things/%2F", "/things/a%2fb", "/things/%00", "/things/%0A", "/things/%1f", "/things/%7F", "/things/..",
            "/things/.", "/..", "/../things", "/things/../x", "/things/%2e%2e", "/things/%2E", "/things/.%2e",
            "/things/%zz", "/things/%", "/things/%4", "/things/%FF", "/things/%C3", "/things/%C0%AF",
            "/things/%ED%A0%80", "/nothing/%00", "/nothing/at/../all", "/nothing/%zz",
        ])
    func refuses(target: String) throws {
        #expect(Self.decision(.get, target, try Self.router()) == "400")
    }

    @Test(
        "names the methods that are possible",
        arguments: [
            (HTTPMethod.put, "/things", "405 GET, HEAD, OPTIONS, POST"), (.post, "/", "405 GET, HEAD, OPTIONS"),
            (.get, "/%C3%A4%20b", "405 OPTIONS, PUT"), (.head, "/%C3%A4%20b", "405 OPTIONS, PUT"),
            (.patch, "/things/1", "405 DELETE, GET, HEAD, OPTIONS"),
            (.trace, "/things", "405 GET, HEAD, OPTIONS, POST"),
            (.other("get"), "/", "405 GET, HEAD, OPTIONS"), (.options, "/things", "204 GET, HEAD, OPTIONS, POST"),
            (.options, "/things/1", "204 DELETE, GET, HEAD, OPTIONS"), (.options, "/nothing", "404"),
            (.options, "*", "204 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
            (.connect, "h:80", "405 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
            (.connect, ":", "405 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
            (.connect, "a:1", "405 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
            (.connect, "*", "405 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
            (.connect, "/things", "405 DELETE, GET, HEAD, OPTIONS, PATCH, POST, PUT"),
        ])
    func methods(method: HTTPMethod, target: String, expected: String) throws {
        #expect(Self.decision(method, target, try Self.router()) == expected)
    }

    @Test("tells literals of every length apart, wherever in a path they stand")
    func literals() throws {
        var routes = RouterBuilder()
        let answer: HTTPHandler = { _ in .response(HTTPResponse()) }
        let names =
            (1...20).map { String(repeating: "s", count: $0) } + ["sssssssx", "ssssssssx", "sessions", "session"]
        for name in names {
            routes.on(.get, "/\(name)", handler: answer)
            routes.on(.get, "/under/\(name)/{id}", handler: answer)
        }
        let router = try routes.freeze()
        for name in names {
            #expect(Self.decision(.get, "/\(name)", router) == "GET /\(name) ")
            #expect(Self.decision(.get, "/\(name)?query", router) == "GET /\(name) ")
            for id in ["a", "a.b", "...", "abcdefgh", "abcdefghi%20"] {
                #expect(Self.decision(.get, "/under/\(name)/\(id)", router) == "GET /under/\(name)/{id} \(id)")
            }
            for other in ["\(name)t", "t\(name)", "\(name)-sssssssss", "S\(name.dropFirst())"] {
                #expect(Self.decision(.get, "/\(other)", router) == "404", "\(other)")
                #expect(Self.decision(.get, "/under/\(other)/1", router) == "404", "\(other)")
            }
        }
    }

    @Test("keeps the order in which routes were added, as their index")
    func order() throws {
        let routes = try Self.router().routes
        #expect(routes.map(\.index) == Array(0..<routes.count))
        #expect(routes.first?.pattern.text == "/")
    }
}
