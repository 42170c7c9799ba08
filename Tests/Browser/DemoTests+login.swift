import Glibc
import JSONDocument
import Support
import Testing

/// The shipped flow `login`.
extension DemoTests {
    /// How the page has its token.
    enum Mode: CaseIterable { case bearer, cookie, plainCookie }

    @Test("finishes the shipped login: the flow goes on with the new token", arguments: Mode.allCases)
    func login(mode: Mode) async throws {
        try await withBrowser(expecting: ["status of 401"]) {
            $0.cookie.secure = mode == .cookie
        } _: { browser in
            try await browser.openDemo(mode == .bearer ? "" : "?mode=cookie")
            let before = try await browser.evaluate("localStorage.getItem('concierge-demo-first')").string
            try await browser.choose("login", in: "first")
            try await browser.wait(forScreen: "Please sign in")
            try await browser.type("ada", into: "Name")
            try await browser.type("right", into: "Password")
            try await browser.click("Continue")
            try await browser.wait(forScreen: "One moment")
            try await browser.app.endTask("check-password", #"{"outcome":"ok"}"#)
            try await browser.wait(forScreen: "We are sending you a code")
            try await browser.app.endTask("send-code", #"{"outcome":"sent"}"#)
            try await browser.wait(forScreen: "Which code have we sent you?")
            try await browser.type("184300", into: "Code")
            try await browser.click("Continue")
            try await browser.wait(forScreen: "One moment")
            let signIn = #"{"outcome":"ok","sign_in":{"user_id":"ada","claims":{"name":"Ada"}}}"#
            #expect(try await browser.app.endTask("check-code", signIn) == 204)
            try await browser.wait(forScreen: "This journey is finished")
            try await browser.wait(for: "document.querySelector('#first .services').textContent.includes('user')")
            // The token of before is gone, from the page, too.
            let after = try await browser.evaluate("localStorage.getItem('concierge-demo-first')").string
            #expect((after == nil) == (mode != .bearer) && (after == nil || after != before))
            #expect(try await browser.evaluate("document.body.textContent.includes('cg_')") == false)
            let users = try await browser.app.admin().get("/v1/users/ada/sessions")
            #expect(users.items.count == 1)
            try await browser.click("Start over")
            try await browser.wait(forScreen: "Please sign in")
        }
    }

    @Test("the stand-in of `make run` answers the tasks of login, and ends with the server", .timeLimit(.minutes(2)))
    func standIn() async throws {
        func start(_ port: UInt16, server: pid_t) throws -> ProgramProcess {
            try ProgramProcess(
                command: ["\(ShippedFiles.directory)/scripts/stand-in", "\(port)", "\(server)"],
                environment: ["PATH": "/usr/bin:/bin"])
        }
        let (standIn, port) = try await withBrowser(expecting: ["status of 401"]) { browser in
            let standIn = try start(browser.app.adminPort, server: getpid())
            try await browser.openDemo("#first=login")
            func submit(_ name: String, _ password: String) async throws {
                try await browser.wait(forScreen: "Please sign in")
                try await browser.type(name, into: "Name")
                try await browser.type(password, into: "Password")
                try await browser.click("Continue")
            }
            try await submit("ada", #"x","password":"analytical"#)
            try await submit("eve", "analytical")
            try await submit("ada", "analytical")
            for code in ["184301", "184300"] {
                try await browser.wait(forScreen: "Which code have we sent you?")
                try await browser.wait(for: "document.querySelector('#first [name=code]').value === ''")
                try await browser.type(code, into: "Code")
                try await browser.click("Continue")
            }
            try await browser.wait(forScreen: "This journey is finished")
            #expect(try await browser.app.admin().get("/v1/users/ada/sessions").items.count == 1)
            return (standIn, browser.app.adminPort)
        }
        #expect(try await standIn.result().status == 0)
        // Nor does it wait for a server that has not started.
        let failed = try ProgramProcess(command: ["/bin/true"], environment: [:])
        #expect(try await failed.result().status == 0)
        #expect(try await start(port, server: failed.identifier).result().status == 0)
    }
}
