import CSQLite
import Glibc
import HTTPTestClient
import Support
import Testing

/// The time between the decision to end a session, or to write to it, and the commit to the database. A random kill
/// seldom meets it, so a lock on the database makes it long.
@Suite("No client learns of a write that a kill can undo")
struct EndTests {
    enum Way: String, CaseIterable, Sendable {
        case write, client, admin, theft, user

        var isAdmins: Bool { self == .admin || self == .user }
        var action: SentRequest.Action { self == .write ? .put(.left, 7) : .end }
    }

    @Test(
        "killed while an end or a write waits for the disk, the server has told other clients the truth",
        arguments: Way.allCases)
    func undone(_ way: Way) async throws {
        try await withFolder(Server.files) { _, folder in
            let server = try await Server(in: folder)
            let (session, start, requests) = try await blocking {
                let connection = try Connection(port: server.port)
                var session = try connection.newSession()
                let ender = try Connection(port: way.isAdmins ? server.adminPort : server.port)
                let end = try Self.prepared(way, &session, server)
                let start = try connection.state(token: session.token)
                let block = try WriteBlock("\(folder)/sessions.db")
                defer { withExtendedLifetime(block) {} }
                try ender.sendOnly(end.method, end.path, end.json, token: end.token)
                var requests = [
                    SentRequest(client: 0, action: way.action, outcome: .unknown, sentAt: 1, answeredAt: .max)
                ]
                let reader = try Connection(port: server.port, token: session.token)
                // These take far longer than the other request needs to arrive.
                for number in 1...500 {
                    let outcome = try reader.outcome(of: .read(.left))
                    requests.append(
                        SentRequest(
                            client: 1, action: .read(.left), outcome: outcome, sentAt: 2 * number,
                            answeredAt: 2 * number + 1))
                    if outcome == .sessionEnded { break }
                }
                server.process.send(SIGKILL)
                return (session, start, requests)
            }
            _ = try await server.process.result()
            let next = try await Server(in: folder)
            let found = try await blocking { try Connection(port: next.port).state(token: session.token) }
            #expect(!found.isEnded, "it was to wait for the database, and did not")
            #expect(History(start: start, requests: requests, found: found).violation() == nil)
            try await next.kill()
        }
    }

    /// Prepares the request that ends the session or writes to it.
    private static func prepared(
        _ way: Way, _ session: inout KnownSession, _ server: Server
    ) throws -> (method: String, path: String, json: String?, token: String?) {
        let client = try Connection(
            port: server.port, token: session.token, admin: (server.adminPort, session.id))
        switch way {
        case .write: return ("PUT", Connection.Session.service(.left), #"{"n":7}"#, session.token)
        case .client: return ("DELETE", Connection.Session.path, nil, session.token)
        case .admin: return ("DELETE", "/v1/sessions/\(session.id)", nil, nil)
        case .theft:
            _ = try client.outcome(of: .rotate)
            let old = session.token
            session.token = client.token ?? old
            return ("GET", Connection.Session.path, nil, old)
        case .user:
            _ = try client.outcome(of: .put(.user, 1))
            return ("DELETE", "/v1/users/u-1/sessions", nil, nil)
        }
    }
}

/// Keeps all others from writing to a database while it exists.
final class WriteBlock {
    struct Failure: Error { let code: Int32 }

    private var handle: OpaquePointer?

    init(_ path: String) throws {
        var code = sqlite3_open(path, &handle)
        if code == SQLITE_OK { code = sqlite3_busy_timeout(handle, 10_000) }
        if code == SQLITE_OK { code = sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil) }
        guard code == SQLITE_OK else {
            sqlite3_close(handle)
            throw Failure(code: code)
        }
    }

    /// Ends the transaction, which has changed nothing.
    deinit { sqlite3_close(handle) }
}
