import JSONDocument
import Support
import Testing

@Suite("The files of the demo")
struct DemoFileTests {
    private static let files: [(path: String, type: String, file: String)] = [
        ("/demo", "text/html; charset=utf-8", "demo/index.html"),
        ("/demo/demo.css", "text/css; charset=utf-8", "demo/demo.css"),
        ("/demo/demo.js", "text/javascript; charset=utf-8", "demo/demo.js"),
        ("/demo/concierge.js", "text/javascript; charset=utf-8", "clients/js/concierge.js"),
        ("/demo/icon.svg", "image/svg+xml", "demo/icon.svg"),
    ]

    @Test(
        "are sent as what they are, may be kept and asked after, and let no script in from elsewhere", arguments: files)
    func served(path: String, type: String, file: String) async throws {
        try await withApplication { configuration in
            configuration.demo = true
        } _: { app in
            let answer = try await app.client().get(path)
            #expect(answer.status == 200)
            #expect(answer.text == (try ShippedFiles.text(file)), "the build is older than the file")
            #expect(answer["Content-Type"] == type)
            #expect(answer["Cache-Control"] == "no-cache")
            let policy = try #require(answer["Content-Security-Policy"])
            #expect(policy.hasPrefix("default-src 'none'; ") && !policy.contains("unsafe"))
            #expect((answer["Cross-Origin-Opener-Policy"] == "same-origin") == type.hasPrefix("text/html"))
            let etag = try #require(answer["ETag"])
            let again = try await app.client().get(path, fields: [("If-None-Match", etag)])
            #expect(again.status == 304 && again["ETag"] == etag)
            #expect(try await app.client().send("HEAD", path)["Content-Length"] == "\(answer.body.count)")
            #expect(try await app.client().send("POST", path, json: "{}").status == 405)
        }
    }

    @Test("are all that a path below /demo leads to")
    func nothingElse() async throws {
        try await withApplication { configuration in
            configuration.demo = true
        } _: { app in
            for path in [
                "/demo/index.html", "/demo/", "/demo/../Package.swift", "/demo/%2e%2e/Package.swift", "/demo/x",
            ] {
                #expect(try await app.client().get(path).status >= 400, "\(path)")
            }
            for name in try ShippedFiles.repository.names(in: "demo") where name != "index.html" {
                #expect(try await app.client().get("/demo/\(name)").status == 200, "\(name)")
            }
        }
    }

    @Test("have German for each of the page's own words")
    func german() throws {
        let german = try ShippedFiles.text("demo/words.js")
        var words: [Substring] = []
        for name in try ShippedFiles.repository.names(in: "demo") {
            let text = try ShippedFiles.text("demo/\(name)").replacing(/\s+/, with: " ")
            words += text.matches(of: /\bword\( ?"([^"]+)"/).map(\.1)
            words += text.matches(of: /data-word> ?([^<]*[^< ])/).map(\.1)
            words += text.matches(of: /data-label="([^"]+)"/).map(\.1)
        }
        #expect(words.count > 60)
        for word in words { #expect(german.contains("\"\(word)\":"), "\(word)") }
    }

    @Test("are not there unless they are asked for, and not on the admin listener")
    func off() async throws {
        try await withApplication { app in
            let answer = try await app.client().get("/demo")
            #expect(answer.status == 404)
        }
        try await withApplication { configuration in
            configuration.demo = true
        } _: { app in
            let answer = try await app.admin().get("/demo")
            #expect(answer.status == 404)
        }
    }
}
