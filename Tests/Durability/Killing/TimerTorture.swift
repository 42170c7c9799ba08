import Glibc
import HTTPTestClient
import JSONDocument
import SeededRandomness
import Support
import Testing

/// Rounds on one database with times that fall due before, while and after the program is killed. Nobody looks at a
/// journey: its services alone say what time has done to it.
struct TimerTorture {
    let folder: String
    let seed: UInt64
    private(set) var kills = 0
    private var generator: SeededGenerator
    private var sessions: [Waiting] = []

    init(folder: String, seed: UInt64) {
        self.folder = folder
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    static let files = Server.files.merging([
        "services/log.json": #"{"name":"log","default":{"begun":0,"done":0},"schema":{"type":"object"}}"#,
        "flows/tick.json": """
        {"id": "tick", "version": 1, "initial": "ready", "states": {
           "ready": {"on": {"begin": {"target": "waiting", "actions": [
             {"op": "add", "path": "/log/begun", "value": {"$add": [{"$from": "/log/begun"}, 1]}}]}}},
           "waiting": {"timeout": {"after": "300ms", "target": "ready", "nav": "pop_to", "actions": [
             {"op": "add", "path": "/log/done", "value": {"$add": [{"$from": "/log/done"}, 1]}}]}}}}
        """,
    ]) { $1 }

    private struct Waiting: Sendable {
        let token: String
        /// The steps that were acknowledged.
        var begun = 0
    }

    private static let sessionCount = 24
    /// So long after its time a timer has been forgotten.
    private static let patience = Duration.seconds(8)

    /// - Throws: `Torture.Violation`.
    mutating func round() async throws {
        let server = try await Server(in: folder)
        let (port, process) = (server.port, server.process)
        try await prepare(port)
        let pause = UInt32.random(in: 0...500_000, using: &generator)
        let former = sessions
        sessions = try await blocking {
            var sessions = former
            for place in sessions.indices {
                let connection = try Connection(port: port, token: sessions[place].token)
                let begun = try connection.send(
                    "POST", "\(Connection.Session.path)/journeys/main/events", #"{"event":"begin"}"#)
                if begun.status == 200 { sessions[place].begun += 1 }
            }
            usleep(pause)
            process.send(SIGKILL)
            return sessions
        }
        _ = try await process.result()
        kills += 1
        try await check()
    }

    private mutating func prepare(_ port: UInt16) async throws {
        guard sessions.isEmpty else { return }
        sessions = try await blocking {
            try (0..<Self.sessionCount).map { _ in
                let connection = try Connection(port: port)
                let token = try connection.send("POST", "/v1/sessions")[member: "token"]?.string ?? ""
                _ = try connection.send(
                    "PUT", "\(Connection.Session.path)/journeys/main", #"{"flow":"tick"}"#, token: token)
                return Waiting(token: token)
            }
        }
    }

    private mutating func check() async throws {
        let server = try await Server(in: folder)
        let (sessions, port, story) = (sessions, server.port, "seed \(seed), kill \(kills)")
        try await blocking {
            let end = ContinuousClock.now + Self.patience
            for session in sessions {
                let connection = try Connection(port: port, token: session.token)
                while true {
                    let log = try connection.send("GET", "\(Connection.Session.path)/services/log")
                    let (begun, done) = (log[member: "begun"]?.int ?? -1, log[member: "done"]?.int ?? -1)
                    func violation(_ what: String) -> Torture.Violation {
                        Torture.Violation(description: "\(story): \(what): begun \(begun), done \(done)")
                    }
                    if begun < session.begun { throw violation("\(session.begun) acknowledged steps") }
                    if done > begun { throw violation("a timer was taken twice") }
                    if done == begun { break }
                    if ContinuousClock.now > end { throw violation("a timer was forgotten") }
                    usleep(20_000)
                }
            }
        }
        try await server.kill()
        kills += 1
    }
}
