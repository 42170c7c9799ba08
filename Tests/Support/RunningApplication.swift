import ConciergeApp
import Configuration
import HTTPTestClient
import Navigation
import Sessions
import Testing

/// A whole Concierge on free ports of this machine, for the time of a test.
package struct RunningApplication: Sendable {
    package let publicPort: UInt16
    package let adminPort: UInt16
    private let end: @Sendable () async throws -> Void

    init(publicPort: UInt16, adminPort: UInt16, end: @escaping @Sendable () async throws -> Void) {
        self.publicPort = publicPort
        self.adminPort = adminPort
        self.end = end
    }

    /// Drains and stops, as SIGTERM does. Stopping twice is stopping once.
    package func stop() async throws { try await end() }

    /// A client of the public listener, on a connection of its own.
    package func client() -> TestClient { TestClient(port: publicPort) }

    /// A client of the admin listener.
    package func admin() -> TestClient { TestClient(port: adminPort) }

    /// A new session, and a client that shows its token.
    package func newSession() async throws -> (client: TestClient, id: String, token: String) {
        let client = client()
        let created = try await client.send("POST", "/v1/sessions")
        let json = try created.json
        guard let token = json[member: "token"]?.string, let id = json[member: "session"]?[member: "id"]?.string else {
            throw UnexpectedAnswer(response: created)
        }
        return (client.with(token: token), id, token)
    }
}

/// Starts the program that is shipped, gives it to `body`, and stops it, also when `body` throws.
///
/// With services, a store, a clock or a log of the test's own the application runs in the test's process instead.
///
/// - Parameters:
///   - added: services in Swift, which run in the test's process, too.
///   - flows: the texts of flow files.
///   - configure: changes the configuration, which has free ports on loopback, short drain times and the store in
///     memory.
///   - store: the one that the configuration names when nil.
///   - clock: that of this machine when nil.
///   - log: where the log goes. It is searched for secrets at the end.
package func withApplication<Result: Sendable>(
    services: [ServiceFile] = [], adding added: SwiftServices? = nil, flows: [String] = [],
    store: (any SessionStore)? = nil, clock: (any SessionClock)? = nil, log: LogFile? = nil,
    _ configure: (inout Configuration) -> Void = { _ in },
    _ body: (RunningApplication) async throws -> Result
) async throws -> Result {
    var configuration = Configuration()
    configuration.store = .memory
    configuration.host = "127.0.0.1"
    configuration.port = 0
    configuration.admin.port = 0
    configuration.workers = 2
    configuration.drainTimeout = .seconds(5)
    configure(&configuration)
    if added == nil, store == nil, clock == nil, log == nil,
        let files = try ProgramFiles(configuration, services: services, flows: flows)
    {
        return try await withFolder(files.texts) { _, folder in
            try await using(RunningProgram.start(files, in: folder, secrets: configuration.secrets), body)
        }
    }
    let file = try log ?? LogFile(configuration.log)
    // Also when the body throws.
    defer {
        Canary.check(file.lines().joined(separator: "\n"), of: "the log", secrets: configuration.secrets)
    }
    let application = try Application(
        configuration, services: services, adding: added ?? SwiftServices(),
        flows: try flowCatalog(flows, services: services, adding: added ?? SwiftServices()), log: file.log,
        store: store, clock: clock ?? SystemClock())
    let addresses = try await application.start()
    let running = RunningApplication(publicPort: addresses.publicPort, adminPort: addresses.adminPort) {
        await application.stop()
    }
    return try await using(running, body)
}

/// The same with one setting.
package func withApplication<Value, Result: Sendable>(
    services: [ServiceFile] = [], flows: [String] = [], clock: (any SessionClock)? = nil, log: LogFile? = nil,
    setting key: WritableKeyPath<Configuration, Value>, to value: Value,
    _ body: (RunningApplication) async throws -> Result
) async throws -> Result {
    try await withApplication(
        services: services, flows: flows, clock: clock, log: log, { $0[keyPath: key] = value }, body)
}

/// The same for a test of one session: `body` gets its client.
package func withSession(
    services: [ServiceFile] = [], adding added: SwiftServices? = nil, flows: [String] = [],
    store: (any SessionStore)? = nil, clock: (any SessionClock)? = nil, log: LogFile? = nil,
    _ configure: (inout Configuration) -> Void = { _ in }, _ body: (TestClient) async throws -> Void
) async throws {
    try await withApplication(
        services: services, adding: added, flows: flows, store: store, clock: clock, log: log, configure
    ) { try await body(try await $0.newSession().client) }
}

private func using<Result: Sendable>(
    _ running: RunningApplication, _ body: (RunningApplication) async throws -> Result
) async throws -> Result {
    let result: Result
    do {
        result = try await body(running)
    } catch {
        try? await running.stop()
        throw error
    }
    try await running.stop()
    return result
}

extension Configuration {
    fileprivate var secrets: [String] { [admin.key?.revealed].compactMap(\.self) }
}

extension RunningApplication {
    /// Waits for a task, and ends it as a back end does.
    /// - Returns: the status of the response to the result.
    @discardableResult
    package func endTask(_ name: String, _ result: String) async throws -> Int {
        let claimed = try await admin().send("POST", "/v1/tasks/claims", json: #"{"task":"\#(name)","wait":"20s"}"#)
        guard let id = claimed.items.first?[string: "id"] else { throw UnexpectedAnswer(response: claimed) }
        return try await admin().send("POST", "/v1/tasks/\(id)/result", json: result).status
    }

    /// Attaches a user to a session through the admin listener.
    /// - Returns: the session's new token.
    package func signIn(_ user: String, to session: String, claims: String = "{}") async throws -> String {
        let answer = try await admin().send(
            "PUT", "/v1/sessions/\(session)/user", json: #"{"user_id":"\#(user)","claims":\#(claims)}"#)
        guard let token = answer[member: "token"]?.string else { throw UnexpectedAnswer(response: answer) }
        return token
    }
}
