import Foundation
import HTTPTestClient
import JSONDocument
import Support

/// Chromium without a window, steered by chromedriver over the WebDriver protocol (W3C), for the time of a test.
final class ChromeDriver: Sendable {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    private let process: ProgramProcess
    private let port: UInt16
    private let profile: URL
    let session: String

    init() throws {
        (process, port) = try Self.start()
        profile = FileManager.default.temporaryDirectory.appending(path: "concierge-browser-\(UUID().uuidString)")
        // Chromium's sandbox does not work for root, nor in most containers. It opens no pages but those of the tests.
        let arguments: [JSONDocument] = [
            "--no-sandbox",
            "--headless=new", "--disable-dev-shm-usage", "--disable-gpu", "--hide-scrollbars", "--lang=en",
            "--window-size=1280,1000", JSONDocument("--user-data-dir=\(profile.path())"),
            // Two names of this machine are two sites, as they are for a test of cross-origin requests.
            "--no-proxy-server", "--no-first-run", "--disable-background-networking", "--disable-component-update",
        ]
        let answer = try Self.send(
            "POST", "/session",
            [
                "capabilities": [
                    "alwaysMatch": [
                        "goog:chromeOptions": ["args": JSONDocument(arguments)],
                        "goog:loggingPrefs": ["browser": "ALL", "performance": "ALL"],
                        "timeouts": ["script": 60_000],
                    ]
                ]
            ], port: port)
        guard let session = answer[member: "sessionId"]?.string else { throw Failure(description: "\(answer)") }
        self.session = session
    }

    deinit {
        _ = try? Self.send("DELETE", "/session/\(session)", nil, port: port)
        try? FileManager.default.removeItem(at: profile)
    }

    /// A command of the session, such as `("POST", "/url", ["url": …])`.
    @discardableResult
    func command(_ method: String, _ path: String, _ body: JSONDocument? = nil) async throws -> JSONDocument {
        try await blocking { [session, port] in
            try Self.send(method, "/session/\(session)\(path)", body, port: port)
        }
    }

    private static func send(
        _ method: String, _ path: String, _ body: JSONDocument?, port: UInt16
    ) throws -> JSONDocument {
        let connection = try RawConnection(port: port, timeoutSeconds: 120)
        let bytes = method == "POST" ? (body ?? .emptyObject).serialized() : []
        try connection.send(
            "\(method) \(path) HTTP/1.1\r\nHost: 127.0.0.1:\(port)\r\nContent-Type: application/json\r\n"
                + "Content-Length: \(bytes.count)\r\nConnection: close\r\n\r\n")
        try connection.send(bytes)
        let answer = try JSONDocument(parsing: try connection.readResponse().body)
        guard let value = answer[member: "value"] else { throw Failure(description: "\(answer)") }
        if let error = value[member: "error"]?.string, value[member: "stacktrace"] != nil {
            throw Failure(description: "\(method) \(path): \(error): \(value[member: "message"]?.string ?? "")")
        }
        return value
    }

    /// It takes a port that is free for IPv6 and says so on a line of its own, or ends if another server has the port
    /// for IPv4.
    private static func start(tries: Int = 5) throws -> (ProgramProcess, UInt16) {
        let process: ProgramProcess
        do {
            process = try ProgramProcess(
                command: ["/usr/bin/chromedriver", "--port=0"], environment: ProcessInfo.processInfo.environment)
        } catch {
            throw Failure(description: "/usr/bin/chromedriver does not start; scripts/setup test installs it: \(error)")
        }
        var (text, port) = ("", nil as UInt16?)
        let line = try process.output { line in
            text += line
            port = line.firstMatch(of: /successfully on port (\d+)/).flatMap { UInt16($0.output.1) }
            return port != nil
        }
        if line != nil, let port { return (process, port) }
        if tries > 1, text.contains("port not available") { return try start(tries: tries - 1) }
        throw Failure(description: "chromedriver ended: \(text)")
    }
}
