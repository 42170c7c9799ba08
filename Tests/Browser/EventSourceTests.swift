import Configuration
import HTTPServer
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Sessions
import Support
import Testing

/// An `EventSource` gives up for good at any response but 200 with a stream (HTML Living Standard, section 9.2.2). Pages
/// that use it without `concierge.js` have to survive what those with it do.
@Suite("A browser's own EventSource in Chromium", .serialized)
struct EventSourceTests {
    /// A page that watches a session by its cookie, over connections that the test can cut.
    private struct Page {
        let driver: ChromeDriver
        let door: FaultProxy

        /// - Parameter port: where the applications of the test listen, one after the other.
        init(to port: UInt16) async throws {
            driver = try await blocking { try ChromeDriver() }
            door = try FaultProxy(to: port)
        }

        func browser(_ app: RunningApplication) -> Browser { Browser(app: app, driver: driver) }

        func watch(with token: String, of app: RunningApplication) async throws {
            let browser = browser(app)
            // A page without a policy.
            try await browser.open("http://127.0.0.1:\(door.port)/demo/concierge.js")
            try await keep(token)
            try await browser.run(
                """
                window.heard = [];
                window.at = {};
                window.opened = 0;
                window.source = new EventSource("/v1/sessions/current/events");
                const note = (what) => { heard.push(what); at[what] = performance.now(); };
                for (const type of ["service.changed", "reset", "stream.closed"]) {
                    source.addEventListener(type, ({ data }) => note(JSON.parse(data).reason ?? type));
                }
                source.onopen = () => { opened++; note("open"); };
                done(true);
                """)
        }

        /// Gives the browser its cookie.
        func keep(_ token: String) async throws {
            let cookie: JSONDocument = ["name": "concierge", "value": JSONDocument(token), "httpOnly": true]
            try await driver.command("POST", "/cookie", ["cookie": cookie])
        }

        func hears(_ what: String, of app: RunningApplication) async throws {
            try await browser(app).wait(for: "heard.includes('\(what)')")
        }

        /// Until a response with a stream has come so often, whether or not it had anything else.
        func isOpen(times: Int, of app: RunningApplication) async throws {
            try await browser(app).wait(for: "opened >= \(times)")
        }

        /// Expects the page to be told of a write, which is made when it watches.
        func isAlive(_ id: String, of app: RunningApplication) async throws {
            try await app.waitForWatchers(1)
            try await browser(app).evaluate("heard.length = 0")
            try await app.write("alive", to: id)
            try await hears("service.changed", of: app)
            #expect(try await browser(app).evaluate("source.readyState") == 1)
        }
    }

    private static func configure(_ configuration: inout Configuration, port: UInt16) {
        configuration.port = Int(port)
        configuration.demo = true
        configuration.cookie.secure = false
    }

    @Test("lives over a restart of the server, with a write before it is back")
    func restart() async throws {
        let port = try RedisTestServer.freePort()
        let page = try await Page(to: port)
        defer { page.door.close() }
        try await withFolder([:]) { _, folder in
            func configure(_ configuration: inout Configuration) {
                Self.configure(&configuration, port: port)
                configuration.store = .sqlite("\(folder)/sessions.db")
            }
            let id = try await withApplication(configure) { app in
                let (_, id, token) = try await app.newSession()
                try await page.watch(with: token, of: app)
                try await page.isAlive(id, of: app)
                await page.door.set(.refusing)
                return id
            }
            try await withApplication(configure) { app in
                try await app.write("meanwhile", to: id)
                await page.door.set(.open)
                try await page.hears("reset", of: app)
                try await page.isAlive(id, of: app)
            }
        }
    }

    @Test("lives over two minutes of sleep as the only one that watches")
    func sleep() async throws {
        let (port, clock) = (try RedisTestServer.freePort(), SteeredClock())
        let page = try await Page(to: port)
        defer { page.door.close() }
        try await withApplication(clock: clock) {
            Self.configure(&$0, port: port)
        } _: { app in
            let (_, id, token) = try await app.newSession()
            try await page.watch(with: token, of: app)
            try await page.isAlive(id, of: app)
            await page.door.set(.refusing)
            await page.door.cause(.cut)
            // The server notices that the reader has gone when it sends the next change.
            try await app.waitForWatchers(0) { try await app.write("asleep", to: id) }
            clock.advance(.seconds(121))
            try await app.write("later", to: id)
            await page.door.set(.open)
            try await page.hears("reset", of: app)
            try await page.isAlive(id, of: app)
        }
    }

    @Test("lives over a sign-in, after which the page has three seconds to get its new cookie")
    func signIn() async throws {
        let port = try RedisTestServer.freePort()
        let page = try await Page(to: port)
        defer { page.door.close() }
        try await withApplication {
            Self.configure(&$0, port: port)
        } _: { app in
            let (_, id, token) = try await app.newSession()
            try await page.watch(with: token, of: app)
            try await page.isAlive(id, of: app)
            let new = try await app.signIn("ada", to: id)
            try await page.hears("token_replaced", of: app)
            try await page.keep(new)
            try await page.isOpen(times: 2, of: app)
            try await page.isAlive(id, of: app)
            let pause = try await page.browser(app).evaluate("at.open - at.token_replaced")
            #expect((pause.double ?? 0) > 3_000)
        }
    }

    @Test("lives over 429")
    func quota() async throws {
        let port = try RedisTestServer.freePort()
        let page = try await Page(to: port)
        defer { page.door.close() }
        try await withApplication { configuration in
            Self.configure(&configuration, port: port)
            configuration.quotas.exempt = []
            configuration.quotas.sessionRequests = Quota(count: 3, window: .seconds(15))
        } _: { app in
            let (client, id, token) = try await app.newSession()
            // However long the browser takes, nothing is left for it.
            let rush = Task { while !Task.isCancelled { _ = try await client.get("/v1/sessions/current") } }
            defer { rush.cancel() }
            try await page.watch(with: token, of: app)
            try await page.isOpen(times: 1, of: app)
            rush.cancel()
            try await page.isOpen(times: 2, of: app)
            try await page.isAlive(id, of: app)
        }
    }

    @Test("lives over 503")
    func unavailable() async throws {
        let (port, store) = (try RedisTestServer.freePort(), SteeredStore())
        let page = try await Page(to: port)
        defer { page.door.close() }
        func configure(_ configuration: inout Configuration) { Self.configure(&configuration, port: port) }
        let (id, token) = try await withApplication(store: store, configure) { app in
            let (_, id, token) = try await app.newSession()
            return (id, token)
        }
        store.before { call throws(StoreError) in if call == .load { throw StoreError.unavailable("away") } }
        try await withApplication(store: store, configure) { app in
            try await page.watch(with: token, of: app)
            try await page.isOpen(times: 1, of: app)
            #expect(try await app.client().with(token: token).get("/v1/sessions/current").status == 503)
            store.before(nil)
            try await page.isOpen(times: 2, of: app)
            try await page.isAlive(id, of: app)
        }
    }
}

extension RunningApplication {
    /// As a back end, which no quota holds up.
    fileprivate func write(_ name: String, to id: String) async throws {
        let written = try await admin().patch("/v1/sessions/\(id)/services/profile", #"{"name":"\#(name)"}"#)
        #expect(written.status == 200, "\(written.text)")
    }

    /// Until so many watch.
    /// - Parameter work: what is done before each look.
    fileprivate func waitForWatchers(_ count: Int, after work: () async throws -> Void = {}) async throws {
        let line = "concierge_watchers \(count)\n"
        repeat { try await work() } while try await !admin().get("/metrics").text.contains(line)
    }
}
