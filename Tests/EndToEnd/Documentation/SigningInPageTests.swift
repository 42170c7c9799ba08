import Configuration
import Foundation
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// The flows, the services and the back ends are those of the page, to the letter.
@Suite("docs/signing-in.md")
struct SigningInPageTests {
    private static let page = "docs/signing-in.md"

    private static func scripts() throws -> [String: String] {
        let blocks = try DocumentationPage(page).blocks.filter { $0.language == "python" }
        return Dictionary(
            uniqueKeysWithValues: try blocks.map { block in
                let name = try #require(block.text.wholeMatch(of: #/# ([a-z]+\.py)\n(?s:.*)/#)?.output.1)
                return (String(name), block.text + "\n")
            })
    }

    /// Runs a back end of the page beside a server with the flows of the page.
    private static func with(
        _ script: String, _ environment: [String: String] = [:],
        _ body: (RunningApplication, TestClient, ProgramProcess) async throws -> Void
    ) async throws {
        let files = try DocumentationPage(page).blocks.reduce(into: [String: String]()) { files, block in
            if let path = block.path { files[path] = block.text }
        }
        let flows = files.filter { $0.key.hasPrefix("config/flows/") }.map(\.value)
        try await withFolder(files.merging(try scripts()) { $1 }.merging(["config/concierge.json": "{}"]) { $1 }) {
            reader, folder in
            let loaded = ConfigurationLoader(environment: [:], files: reader).load()
            #expect(loaded.problems == [])
            try await withApplication(
                services: try ShippedFiles.services() + loaded.services, flows: try ShippedFiles.flows() + flows
            ) { app in
                let variables = ["CONCIERGE_ADMIN": "http://127.0.0.1:\(app.adminPort)", "PATH": path, "HOME": home]
                let backend = try ProgramProcess(
                    command: ["/usr/bin/env", "python3", "\(folder)/\(script)"],
                    environment: variables.merging(environment) { $1 })
                try await body(app, try await app.newSession().client, backend)
                backend.send(SIGKILL)
                _ = try await backend.result()
            }
        }
    }

    private static let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    private static let home = ProcessInfo.processInfo.environment["HOME"] ?? "/"

    /// Sends an event, and waits until the journey has left its busy screens.
    private static func event(
        _ name: String, _ data: String = "{}", on journey: String, _ client: TestClient
    ) async throws -> TestResponse {
        let sent = try await client.send(
            "POST", "\(journey)/events",
            json: #"{"event":"\#(name)","data":\#(data),"challenge":"\#(SigningIn.challenge)"}"#)
        #expect(sent.status == 200, "\(sent.text)")
        var shown = try await client.get(journey)
        while shown.status == 200, shown[member: "screen"]?[string: "status"] == "busy", let tag = shown["ETag"] {
            shown = try await client.get(journey, fields: [("If-None-Match", tag), ("Prefer", "wait=20")])
            if shown.status == 304 { shown = try await client.get(journey) }
        }
        return shown
    }

    /// The sign-in has ended the client's token: exchanges it, and expects the user.
    private static func expectUser(
        _ user: String, claims: JSONDocument, _ shown: TestResponse, _ client: TestClient, _ app: RunningApplication
    ) async throws {
        #expect(shown.status == 401, "\(shown.text)")
        let exchanged = try await client.send("POST", Paths.tokens, json: SigningIn.verifying(SigningIn.verifier))
        let fresh = app.client().with(token: try #require(exchanged[member: "token"]?.string, "\(exchanged.text)"))
        #expect(
            try await fresh.get(Paths.user).json == ["authenticated": true, "claims": claims, "id": JSONDocument(user)])
        #expect(try await fresh.get(Paths.journeys).items.last?[string: "status"] == "finished")
    }

    @Test("the shipped flow: a wrong password, another code, and the right ones")
    func shipped() async throws {
        try await Self.with("login.py") { app, client, backend in
            let journey = try await client.start("login")
            let wrong = try await Self.event("submit", #"{"name":"ada","password":"no"}"#, on: journey, client)
            #expect(wrong.screen == "password")
            let right = #"{"name":"ada","password":"analytical"}"#
            #expect(try await Self.event("submit", right, on: journey, client).stack == ["password", "code"])
            _ = try await backend.code()
            #expect(try await Self.event("again", on: journey, client).stack == ["password", "code"])
            let code = try await backend.code()
            let other = code == "000000" ? "000001" : "000000"
            #expect(try await Self.event("submit", #"{"code":"\#(other)"}"#, on: journey, client).screen == "code")
            let shown = try await Self.event("submit", #"{"code":"\#(code)"}"#, on: journey, client)
            try await Self.expectUser("user-1", claims: ["name": "Ada Lovelace"], shown, client, app)
        }
    }

    @Test("five wrong passwords lock the account, and say no more of an unknown name")
    func locked() async throws {
        try await Self.with("login.py") { _, client, _ in
            for name in ["ada", "nobody"] {
                let journey = try await client.start("login")
                for count in 1...5 {
                    let shown = try await Self.event(
                        "submit", #"{"name":"\#(name)","password":"no"}"#, on: journey, client)
                    #expect(shown.screen == (count < 5 ? "password" : "locked"))
                }
            }
        }
    }

    @Test("an OpenID provider")
    func provider() async throws {
        try await OpenIDProvider.run { provider in
            try await Self.with("oidc.py", provider.environment) { app, client, _ in
                let journey = try await client.start("oidc")
                let away = try await Self.event("begin", on: journey, client)
                let address = try #require(away.shown("oidc")?[string: "url"].flatMap { URL(string: $0) })
                let brought = try provider.authorize(address)
                // What belongs to another journey is refused, and so is a code that the provider does not know.
                for wrong in [(brought.code, "x"), ("x", brought.state)] {
                    let refused = try await Self.event(
                        "returned", #"{"code":"\#(wrong.0)","state":"\#(wrong.1)"}"#, on: journey, client)
                    #expect(refused.screen == "start")
                    #expect(try await Self.event("begin", on: journey, client).screen == "away")
                }
                let shown = try await Self.event(
                    "returned", #"{"code":"\#(brought.code)","state":"\#(brought.state)"}"#, on: journey, client)
                try await Self.expectUser(
                    "sub-7", claims: ["email": "ada@example.org", "name": "Ada"], shown, client, app)
            }
        }
    }

    @Test("Ory Kratos")
    func kratos() async throws {
        try await KratosStandIn.run { kratos in
            try await Self.with("kratos.py", ["KRATOS_PUBLIC": kratos.url]) { app, client, _ in
                let journey = try await client.start("kratos")
                let wrong = try await Self.event("submit", #"{"name":"ada","password":"no"}"#, on: journey, client)
                #expect(wrong.screen == "password" && wrong.stack == ["password"])
                let right = #"{"name":"ada","password":"analytical"}"#
                let shown = try await Self.event("submit", right, on: journey, client)
                try await Self.expectUser(
                    "9f425a8d", claims: ["email": "ada@example.org"], shown, client, app)
                #expect(kratos.endedSessions == ["ory_st_1"])
            }
        }
    }
}

extension ProgramProcess {
    /// The next code that the back end has sent.
    fileprivate func code() async throws -> String {
        let line = try await blocking { try self.output { $0.hasPrefix("The code of ada is ") } }
        return String(try #require(line).suffix(6))
    }
}
