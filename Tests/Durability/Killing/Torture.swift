import Chance
import Glibc
import HTTPTestClient
import Support

/// Rounds on one database: start the program, let clients write, kill it, start it again, look at every session.
///
/// What is found is what the next round starts with. Sessions that no client wrote to in a round have to be as they were,
/// and sessions that have ended stay ended.
struct Torture {
    let folder: String
    let seed: UInt64
    /// Acknowledgements before a kill, at most.
    let mostAcknowledgements: Int

    private(set) var kills = 0
    private(set) var acknowledgements = 0
    private(set) var unknown = 0
    private var chance: SeededGenerator
    private var sessions: [(token: String, state: SessionState)] = []
    private var writes = 0
    /// Runs since the end of the last round. It is killed when nobody needs it.
    private var checked: Server?

    init(folder: String, seed: UInt64, mostAcknowledgements: Int) {
        self.folder = folder
        self.seed = seed
        self.mostAcknowledgements = mostAcknowledgements
        chance = SeededGenerator(seed: seed)
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
        let moments = Moments(wanted: Int.random(in: 1...mostAcknowledgements, using: &chance))
        let clients = clients(server)
        let requests = try await withThrowingTaskGroup(of: (Int?, [SentRequest]).self) { group in
            for (session, client) in clients {
                group.addTask { (session, try await blocking { try client.run(moments) }) }
            }
            group.addTask {
                await moments.isTime.wait()
                server.process.send(SIGKILL)
                return (nil, [])
            }
            var bySession: [Int: [SentRequest]] = [:]
            var running = clients.count
            // Whether nobody goes on, and too little was acknowledged, or a client got what no server should answer.
            defer { moments.isTime.happen() }
            while running > 0, let (session, requests) = try await group.next() {
                guard let session else { continue }
                bySession[session, default: []] += requests
                running -= 1
            }
            return bySession
        }
        _ = try await server.process.result()
        kills += 1
        acknowledgements += moments.acknowledged
        unknown += requests.values.joined().count { $0.outcome == .unknown }
        try await killWhileStarting()
        try await check(requests)
    }

    /// The one that the sessions were looked at with, if there is one.
    private mutating func startedServer() async throws -> Server {
        defer { checked = nil }
        if let checked { return checked }
        return try await Server(in: folder)
    }

    /// Now and then it is killed before it listens: at whatever it does first with the database.
    private mutating func killWhileStarting() async throws {
        guard Int.random(in: 0..<8, using: &chance) == 0 else { return }
        let process = try Server.spawn(in: folder)
        let delay = useconds_t.random(in: 0..<60_000, using: &chance)
        try await blocking { _ = usleep(delay) }
        process.send(SIGKILL)
        _ = try await process.result()
        kills += 1
    }

    /// Makes sessions in the places of those that have ended; some of these are kept, to look whether they stay so.
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
        for session in living.shuffled(using: &chance).prefix(Self.sessionCount / 2) {
            for number in 0..<Int.random(in: 1...Self.mostClientsOfASession, using: &chance) {
                clients.append(
                    (
                        session,
                        RoundClient(
                            number: number, token: sessions[session].token, port: server.port, seed: chance.next(),
                            firstWrite: writes + 1, mayEnd: number == 0)
                    ))
                writes += 10_000
            }
        }
        return clients
    }

    /// Starts it again, which goes on in the next round, and looks at all sessions.
    private mutating func check(_ requests: [Int: [SentRequest]]) async throws {
        let server = try await Server(in: folder)
        let port = server.port
        let tokens = sessions.map(\.token)
        let found = try await blocking {
            let connection = try Connection(port: port)
            return try tokens.map { try connection.state(token: $0) }
        }
        for index in sessions.indices {
            let history = History(
                start: sessions[index].state, requests: requests[index] ?? [], found: found[index])
            if let violation = history.violation() {
                throw Violation(description: "seed \(seed), kill \(kills): \(violation)")
            }
            sessions[index].state = found[index]
        }
        checked = server
    }
}
