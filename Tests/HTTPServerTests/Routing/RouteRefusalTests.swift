import HTTPServer
import Testing

@Suite("Routes that cannot be served")
struct RouteRefusalTests {
    private static func problem(_ routes: [(HTTPMethod, String)]) -> String? {
        var builder = RouterBuilder()
        for (method, pattern) in routes { builder.on(method, pattern) { _ in HTTPResponse() } }
        do {
            _ = try builder.freeze()
            return nil
        } catch {
            return error.description
        }
    }

    @Test(
        "are refused before the first request, and it is said why",
        arguments: [
            ("", "route  does not start with a slash"), ("a", "route a does not start with a slash"),
            ("//", "route // has an empty segment"), ("/a/", "route /a/ has an empty segment"),
            ("/a//b", "route /a//b has an empty segment"),
            ("/{a", "route /{a has a brace in \"{a\" that is not closed"),
            ("/a}", "route /a} has a segment \"a}\" with a character it may not have"),
            ("/a{b}", "route /a{b} has a segment \"a{b}\" with a character it may not have"),
            ("/a%20b", "route /a%20b has a segment \"a%20b\" with a character it may not have"),
            ("/a?b", "route /a?b has a segment \"a?b\" with a character it may not have"),
            ("/{}", "route /{} has a parameter \"{}\": {name} and {name:int} are known"),
            ("/{:int}", "route /{:int} has a parameter \"{:int}\": {name} and {name:int} are known"),
            ("/{a:uuid}", "route /{a:uuid} has a parameter \"{a:uuid}\": {name} and {name:int} are known"),
            ("/{a:int:b}", "route /{a:int:b} has a parameter \"{a:int:b}\": {name} and {name:int} are known"),
            ("/{a}/{a}", "route /{a}/{a} names the parameter a twice"),
            ("/{a}/{b}/{c}/{d}/{e}", "route /{a}/{b}/{c}/{d}/{e} has more than 4 parameters"),
        ])
    func malformed(pattern: String, expected: String) {
        #expect(Self.problem([(.get, pattern)]) == expected)
    }

    @Test(
        "are refused when one path would fit two, whatever the methods and the order",
        arguments: [
            (["/a/{b}", "/a/c"], "route /a/c is ambiguous: where it has \"c\", another route has {b}"),
            (["/a/c", "/a/{b}"], "route /a/{b} is ambiguous: where it has {b}, another route has \"c\""),
            (["/a/{b}/d", "/a/c/d"], "route /a/c/d is ambiguous: where it has \"c\", another route has {b}"),
            (["/a/c/d", "/a/{b}/d"], "route /a/{b}/d is ambiguous: where it has {b}, another route has \"c\""),
            (["/a/{b}", "/a/{c}/d"], "route /a/{c}/d is ambiguous: where it has {c}, another route has {b}"),
            (["/{n}", "/{n:int}"], "route /{n:int} is ambiguous: where it has {n}, another route has {n}"),
        ])
    func ambiguous(patterns: [String], expected: String) {
        #expect(Self.problem([(.get, patterns[0]), (.post, patterns[1])]) == expected)
    }

    @Test("are refused when a method stands twice on a path")
    func duplicate() {
        #expect(Self.problem([(.get, "/a"), (.get, "/a")]) == "route /a stands twice for GET, also as /a")
    }

    @Test("are not these")
    func served() {
        #expect(
            Self.problem([
                (.get, "/"), (.get, "/{a}/{b}/{c}/{d}"), (.post, "/{a}"), (.get, "/{a}"), (.options, "/"),
                (.get, "/{a}/x/y"),
            ]) != nil)
        // No path fits both of these.
        #expect(Self.problem([(.post, "/a/c"), (.post, "/a/{b}/d"), (.get, "/a")]) == nil)
        #expect(
            Self.problem([(.get, "/"), (.get, "/{a}"), (.post, "/{a}"), (.get, "/{a}/b"), (.get, "/{a}/c")]) == nil)
    }
}
