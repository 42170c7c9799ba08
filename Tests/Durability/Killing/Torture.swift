import Glibc
import HTTPTestClient
import SeededRandomness
import Support

/// Rounds on one database: start the program, let clients write, kill it, start it again, read every session.
///
/// The next round starts with the state that this one has found. Sessions without a write in a round must not change,
/// and ended sessions must stay ended. In some rounds only a few sessions stay in memory, so that reads come from the
/// database, and in some the kill comes as soon as a client learns of an end. `durability` changes.
struct Torture {
    let folder: String
    let seed: UInt64
    /// The most acknowledgements before a kill.
    let mostAcknowledgements: Int

    private(set) var kills = 0
    private(set) var acknowledgements = 0
    private(set) var unknown = 0
    private var generator: SeededGenerator
    var sessions: [KnownSession] = []
    /// The users that were attached in the last round.
    var users: Set<Int> = []
    private var writes = 0
    /// The policy of the program that was started last.
    private var durability = ""
    /// The program since the end of the last round. It is killed with this object.
    var checked: Server?

    init(folder: String, seed: UInt64, mostAcknowledgements: Int) {
        self.folder = folder
        self.seed = seed
        self.mostAcknowledgements = mostAcknowledgements
        generator = SeededGenerator(seed: seed)
    }

    struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private static let sessionCount = 24
    private static let endedCount = 50
    private static let mostClientsOfASession = 3

    /// - Throws: ``Violation``, when something was lost; other errors when the server does not work at all.
    mutating func round() async throws {
        let server = try await startedServer()
        try await prepare(server)
        let process = server.process
        let canRaise = durability != "commit"
        let looksForEnds = Int.random(in: 0..<3, using: &generator) == 0
        let kill: @Sendable () -> Void = { process.send(SIGKILL) }
        let moments = Moments(
            wanted: Int.random(in: 1...mostAcknowledgements, using: &generator), atFirstEnd: looksForEnds ? kill : nil)
        let clients = clients(server)
        let reports: [Int: [RoundClient.Report]] = try await withThrowingTaskGroup(of: (Int?, RoundClient.Report).self)
        { group in
            for (session, client) in clients {
                group.addTask { (session, try await blocking { try client.run(moments) }) }
            }
            group.addTask {
                await moments.isTime.wait()
                kill()
                return (nil, RoundClient.Report())
            }
            var reports: [Int: [RoundClient.Report]] = [:]
            var running = clients.count
            // No client goes on, or one got a response that is never right.
            defer { moments.isTime.happen() }
            while running > 0, let (session, report) = try await group.next() {
                guard let session else { continue }
                reports[session, default: []].append(report)
                running -= 1
            }
            return reports
        }
        try expectSilence(try await process.result().complaints)
        kills += 1
        acknowledgements += moments.acknowledged
        for report in reports.values.joined() { unknown += report.requests.count { $0.outcome == .unknown } }
        try await killWhileStarting()
        try await check(reports, canRaise: canRaise)
    }

    /// What a kill leaves is no damage.
    private func expectSilence(_ complaints: String) throws {
        let lines = complaints.split(separator: "\n")
        guard let line = lines.first(where: { $0.contains(#""event":"store""#) }) else { return }
        throw Violation(description: "seed \(seed), kill \(kills): the store complains: \(line)")
    }

    /// The program of the last round, if it still runs.
    private mutating func startedServer() async throws -> Server {
        defer { checked = nil }
        if let checked { return checked }
        return try await freshServer()
    }

    mutating func freshServer() async throws -> Server {
        let residents = [2, 8, 100_000].randomElement(using: &generator) ?? 2
        // A kill loses nothing under any policy. Under some, later revisions are far higher.
        durability = ["commit", "commit", "interval", "none"].randomElement(using: &generator) ?? "commit"
        return try await Server(
            in: folder, settings: ["max_resident_bytes=\(residents * 600)", "durability=\(durability)"])
    }

    /// Sometimes kills the program before it listens, during its first work on the database.
    private mutating func killWhileStarting() async throws {
        guard Int.random(in: 0..<8, using: &generator) == 0 else { return }
        let process = try Server.spawn(in: folder)
        let delay = useconds_t.random(in: 0..<60_000, using: &generator)
        try await blocking { _ = usleep(delay) }
        process.send(SIGKILL)
        try expectSilence(try await process.result().complaints)
        kills += 1
    }

    /// Creates sessions in place of ended ones, and keeps some of these to check that they stay ended.
    private mutating func prepare(_ server: Server) async throws {
        let missing = max(0, Self.sessionCount - sessions.count { !$0.state.isEnded })
        let port = server.port
        sessions += try await blocking {
            let connection = try Connection(port: port)
            return try (0..<missing).map { _ in try connection.newSession() }
        }
        let surplus = sessions.count { $0.state.isEnded } - Self.endedCount
        for _ in 0..<max(0, surplus) {
            guard let oldest = sessions.firstIndex(where: { $0.state.isEnded }) else { break }
            sessions.remove(at: oldest)
        }
    }

    /// Half of the sessions get clients, from one to three.
    private mutating func clients(_ server: Server) -> [(session: Int, client: RoundClient)] {
        let living = sessions.indices.filter { !sessions[$0].state.isEnded }
        var clients: [(session: Int, client: RoundClient)] = []
        for session in living.shuffled(using: &generator).prefix(Self.sessionCount / 2) {
            let count = Int.random(in: 1...Self.mostClientsOfASession, using: &generator)
            for number in 0..<count {
                clients.append(
                    (
                        session,
                        RoundClient(
                            number: number, session: sessions[session], port: server.port, adminPort: server.adminPort,
                            seed: generator.next(), firstWrite: writes + 1, isAlone: count == 1)
                    ))
                writes += 10_000
            }
        }
        return clients
    }
}
