import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Behind a proxy with the shipped file, which compresses")
struct ProxyTests {
    private static func withProxy(
        _ kind: ShippedProxy.Kind, _ body: (RunningApplication, ShippedProxy) async throws -> Void
    ) async throws {
        try await withApplication(services: try ShippedFiles.services(), flows: try ShippedFiles.flows()) {
            $0.mainFlow = "main"
        } _: { app in
            try await withFolder([:]) { _, folder in
                try await body(app, try await ShippedProxy(kind, to: app.publicPort, in: folder))
            }
        }
    }

    /// Without the rules for every response of the server, since proxies add fields.
    private static func send(_ bytes: [UInt8], by client: TestClient) async throws -> TestResponse {
        try await blocking {
            let connection = try RawConnection(port: client.port)
            try connection.send(bytes)
            return try connection.readResponse()
        }
    }

    @Test("the commands of the README do what it shows", arguments: ShippedProxy.Kind.allCases)
    func walk(_ kind: ShippedProxy.Kind) async throws {
        try await Self.withProxy(kind) { _, proxy in
            let blocks = try DocumentationPage("README.md").blocks.filter { $0.language == "console" }
            let commands = blocks.flatMap { ShellCommand.all(in: $0.text) }
            let compressed = ShellCommand.all(in: #"$ curl() { command curl --compressed "$@"; }"#)
            try await withFolder([:]) { _, folder in
                let outputs = try await ShellCommand.outputs(
                    of: compressed + commands, in: folder, addresses: ["localhost:8080": proxy.port])
                for (command, output) in zip(commands, outputs.dropFirst()) {
                    #expect(output.isShown(as: command.output), "\(command.text)\n\(output)")
                }
            }
        }
    }

    @Test("a tag is understood as it comes back, whether or not it was changed", arguments: ShippedProxy.Kind.allCases)
    func tags(_ kind: ShippedProxy.Kind) async throws {
        try await Self.withProxy(kind) { app, proxy in
            let token = try await app.newSession().token
            let client = TestClient(port: proxy.port).with(token: token).with("Accept-Encoding", "gzip")
            let shown = try await Self.send(client.request("GET", Paths.profile), by: client)
            #expect(shown["Content-Encoding"] == "gzip")
            var tag = try #require(shown["ETag"])
            for status in [200, 412] {
                let fields = [("If-Match", tag), ("If-None-Match", tag)]
                let read = client.request("GET", Paths.profile, fields: [fields[1]])
                #expect(try await Self.send(read, by: client).status == (status == 200 ? 304 : 200))
                let write = client.request("PATCH", Paths.profile, json: #"{"name":"Ada"}"#, fields: [fields[0]])
                let written = try await Self.send(write, by: client)
                #expect(written.status == status)
                if status == 412 { tag = try #require(written["ETag"]) }
            }
            let last = client.request("PUT", Paths.profile, json: "{}", fields: [("If-Match", tag)])
            #expect(try await Self.send(last, by: client).status == 200)
        }
    }

    /// A proxy that waits for more holds each event back by 200 ms; a busy machine only some.
    @Test("events come at once", arguments: ShippedProxy.Kind.allCases)
    func events(_ kind: ShippedProxy.Kind) async throws {
        try await Self.withProxy(kind) { app, proxy in
            let (client, _, token) = try await app.newSession()
            let reader = TestClient(port: proxy.port).with(token: token).with("Accept-Encoding", "gzip")
            let stream = try await EventReader.open(reader)
            var quickest = Duration.seconds(60)
            for number in 0..<10 {
                let begin = ContinuousClock.now
                try await client.patch(Paths.profile, #"{"name":"\#(number)"}"#)
                #expect(try await stream.next()?.name == "service.changed")
                quickest = min(quickest, .now - begin)
            }
            #expect(quickest < .milliseconds(150))
        }
    }

    @Test("bodies arrive in chunks, and one that is too large is refused", arguments: ShippedProxy.Kind.allCases)
    func bodies(_ kind: ShippedProxy.Kind) async throws {
        try await Self.withProxy(kind) { app, proxy in
            let client = TestClient(port: proxy.port).with(token: try await app.newSession().token)
            for (count, status) in [(40_000, 200), (140_000, 413)] {
                let text = #"{"attributes":{"text":"\#(String(repeating: "x", count: count))"}}"#
                let whole = client.request("PUT", Paths.profile, json: text)
                #expect(try await Self.send(whole, by: client).status == status)
                var chunks = client.request(
                    "PUT", Paths.profile,
                    fields: [("Content-Type", "application/json"), ("Transfer-Encoding", "chunked")])
                chunks += Array("\(String(text.utf8.count, radix: 16))\r\n\(text)\r\n0\r\n\r\n".utf8)
                #expect(try await Self.send(chunks, by: client).status == status)
            }
        }
    }

    @Test("an EventSource is told to come back while no server answers", arguments: ShippedProxy.Kind.allCases)
    func serverAway(_ kind: ShippedProxy.Kind) async throws {
        try await Self.withProxy(kind) { app, proxy in
            let client = TestClient(port: proxy.port)
            let browser = client.with("Accept", "text/event-stream")
            try await app.stop()
            let stream = try await Self.send(browser.request("GET", Paths.events), by: browser)
            #expect(stream.status == 200 && stream["Content-Type"] == "text/event-stream")
            // `concierge.js` and the Swift client, which wait longer each time.
            let module = client.with("Accept", "text/event-stream, application/problem+json")
            for request in [browser.request("GET", Paths.profile), module.request("GET", Paths.events)] {
                #expect((502...504).contains(try await Self.send(request, by: client).status))
            }
        }
    }
}
