import HTTPServer
import JSONDocument
import Support
import Synchronization
import Testing

/// A web server of somebody else: a page, and the module beside it.
private struct OtherOrigin {
    let server: HTTPServer
    private let page: PageText

    private final class PageText: Sendable {
        let text = Mutex("")
    }

    init() throws {
        let module = try ShippedFiles.text("clients/js/concierge.js")
        let page = PageText()
        self.page = page
        var routes = RouterBuilder()
        for (path, type) in [("/", "text/html; charset=utf-8"), ("/concierge.js", "text/javascript; charset=utf-8")] {
            routes.on(.get, path) { _ in
                let text = path == "/" ? page.text.withLock { $0 } : module
                return HTTPResponse(fields: [.contentType: type], body: Array(text.utf8))
            }
        }
        routes.on(.get, "/favicon.ico") { _ in HTTPResponse(.noContent) }
        var configuration = HTTPServerConfiguration()
        configuration.host = "127.0.0.1"
        configuration.port = 0
        configuration.workers = 1
        server = try HTTPServer(router: try routes.freeze(), configuration: configuration)
    }

    var origin: String { "http://127.0.0.1:\(server.port)" }

    func serve(_ text: String) { page.text.withLock { $0 = text } }

    static func with(_ body: (OtherOrigin) async throws -> Void) async throws {
        let other = try OtherOrigin()
        do {
            try await body(other)
            await other.server.stop(timeout: .seconds(1))
        } catch {
            await other.server.stop(timeout: .seconds(1))
            throw error
        }
    }
}

@Suite("A page of another origin in Chromium", .serialized)
struct CrossOriginTests {
    @Test("runs the wizard of docs/web.md in at most 30 lines", arguments: ["bearer", "cookie"])
    func wizard(mode: String) async throws {
        let page = try #require(try ShippedFiles.text("docs/web.md").firstMatch(of: #/(?s)```html\n(.*?)```/#)).output.1
        #expect(page.split(separator: "\n").count <= 30)
        try await OtherOrigin.with { other in
            try await withBrowser(expecting: mode == "cookie" ? ["401"] : [], others: [other.origin]) {
                $0.cors.allowedOrigins = [other.origin]
            } _: { browser in
                other.serve(
                    String(page).replacing("http://localhost:8080", with: browser.origin)
                        .replacing("storage: sessionStorage", with: #"storage: sessionStorage, mode: "\#(mode)""#))
                try await browser.open(other.origin)
                try await browser.wait(for: "document.querySelector('h1').textContent === 'Who are you?'")
                try await browser.run(
                    "document.forms[0].name.value = 'Ada'; document.forms[0].requestSubmit(); done(true)")
                try await browser.wait(for: "document.querySelector('h1').textContent === 'The first of three pages'")
                #expect(try await browser.evaluate("document.querySelector('p').textContent") == "Ada")
                // That takes an ETag that it may read, and If-Match that it may send.
                try await browser.run("document.querySelector('[value=next]').click(); done(true)")
                try await browser.wait(for: "document.querySelector('h1').textContent === 'The second of three pages'")
                #expect(try await browser.evaluate("sessionStorage.concierge").isNull == (mode == "cookie"))
                // By the stream.
                try await browser.run(
                    """
                    const { Session } = await import("./concierge.js");
                    const options = { url: "\(browser.origin)", storage: sessionStorage, mode: "\(mode)" };
                    const session = await Session.open(options);
                    await session.service("profile").patch({ name: "Grace" });
                    done(true);
                    """)
                try await browser.wait(for: "document.querySelector('p').textContent === 'Grace'")
                try await browser.driver.command("POST", "/refresh")
                try await browser.wait(for: "document.querySelector('h1').textContent === 'The second of three pages'")
            }
        }
    }

    @Test("is refused where no origin is allowed", arguments: ["bearer", "cookie"])
    func refused(mode: String) async throws {
        try await OtherOrigin.with { other in
            other.serve("<!DOCTYPE html><title>Other</title>")
            try await withBrowser(expecting: ["CORS", "ERR_FAILED"], others: [other.origin]) { browser in
                try await browser.open(other.origin)
                let refusal = try await browser.run(
                    """
                    const { Session } = await import("./concierge.js");
                    const options = { url: "\(browser.origin)", mode: "\(mode)" };
                    done(await Session.open(options).then(() => "opened", ({ code }) => code));
                    """)
                #expect(refusal == "offline")
            }
        }
    }
}
