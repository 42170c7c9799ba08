import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import SeededRandomness
import Support
import Synchronization

/// Rounds on one store: journeys move between sessions while tasks are done and times come, a server is killed, and
/// started again; then each journey must be at one place, with everything that was acknowledged.
struct MoveTorture {
    let folder: String
    /// Nil for a file of the one server; two servers share a Redis.
    let redis: RedisTestServer?
    let seed: UInt64
    private(set) var report = Report()
    private var generator: SeededGenerator
    private var servers: [(process: ProgramProcess, ports: Trip.Ports)] = []
    private var homes: [Trip.Home] = []
    private var journeys: [Trip.Known] = []
    private var results = TripWorker.Results()
    private let numbers = TaskTorture.Numbers(next: 1)

    struct Report: CustomStringConvertible {
        var kills = 0
        /// Moves that were acknowledged.
        var moves = 0
        /// Moves that got no response, and how many of them were made all the same.
        var cut = 0
        var made = 0
        /// Journeys that were on their way at the first look after a kill.
        var underway = 0

        var description: String {
            "\(kills) kills, \(moves) moves acknowledged, \(cut) cut by a kill, of which \(made) were made, "
                + "\(underway) journeys found on their way"
        }
    }

    private static let homeCount = 6
    private static let journeyCount = 10
    private static let mostAcknowledgements = 60

    init(folder: String, redis: RedisTestServer?, seed: UInt64) {
        self.folder = folder
        self.redis = redis
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    /// When a server is to be killed, and whether it was.
    final class Round: Sendable {
        private let moments: Moments
        private let wasKilled = Atomic(false)

        init(wanted: Int) { moments = Moments(wanted: wanted) }

        /// Clients of a server that goes on end, too.
        var isOver: Bool { wasKilled.load(ordering: .relaxed) }
        func acknowledge() { moments.acknowledge() }

        /// It is time, or no client goes on.
        func end() { moments.isTime.happen() }

        func whenTime(_ kill: () -> Void) async {
            await moments.isTime.wait()
            kill()
            wasKilled.store(true, ordering: .relaxed)
        }
    }

    /// - Throws: `Torture.Violation`.
    mutating func round() async throws {
        try await prepare()
        let victim = Int.random(in: 0..<servers.count, using: &generator)
        let killsRedis = Int.random(in: 0..<6, using: &generator) == 0
        let (process, redis) = (servers[victim].process, killsRedis ? redis : nil)
        try await send {
            redis?.kill()
            process.send(SIGKILL)
        }
        _ = try await process.result()
        try redis?.start()
        report.kills += 1
        servers[victim] = try await startedServer()
        try await repeatSome()
        try await check(mayBeBusy: true)
    }

    /// Does the tasks that are left, and checks everything once more.
    mutating func finish() async throws {
        try await prepare()
        // A journey on its way has no task in the list.
        try await check(mayBeBusy: true)
        let round = Round(wanted: .max)
        let worker = TripWorker(at: servers[0].ports.adminPort, round, numbers, seed: generator.next())
        let port = servers[0].ports.adminPort
        let end = ContinuousClock.now + TripSight.patience
        async let worked = blocking {
            var worker = worker
            worker.run()
            return worker.results
        }
        try await blocking {
            // The leases of before the kill end within a second.
            while try !Trip.send("GET", "/v1/tasks", to: port).items.isEmpty, ContinuousClock.now < end {
                usleep(20_000)
            }
            round.end()
        }
        await round.whenTime {}
        results.merge(try await worked)
        try await check(mayBeBusy: false)
    }

    // MARK: - Rounds

    private mutating func prepare() async throws {
        guard servers.isEmpty else { return }
        for _ in 0..<(redis == nil ? 1 : 2) { servers.append(try await startedServer()) }
        let ports = servers[0].ports
        (homes, journeys) = try await blocking {
            let homes = try Trip.homes(Self.homeCount, at: ports)
            let journeys = try (1...Self.journeyCount).map {
                try Trip.newJourney($0, in: $0 % homes.count, of: homes, at: ports.publicPort)
            }
            return (homes, journeys)
        }
    }

    private mutating func startedServer() async throws -> (ProgramProcess, Trip.Ports) {
        let store = redis.map { "redis://127.0.0.1:\($0.port)" } ?? "sqlite:\(folder)/sessions.db"
        // With few in memory, most requests load their session.
        let residents = [2, 100_000].randomElement(using: &generator) ?? 2
        let arguments = Trip.arguments(in: folder, store: store) + ["--set", "max_resident_bytes=\(residents * 600)"]
        let process = try ProgramProcess(arguments)
        return (process, try await process.ports())
    }

    private enum Part: Sendable {
        case mover(Int, Trip.Known, moves: Int, cut: Int)
        case worker(TripWorker.Results)
        case kill
    }

    /// Lets clients and back ends work until the server is killed.
    private mutating func send(kill: @escaping @Sendable () -> Void) async throws {
        let round = Round(wanted: Int.random(in: 1...Self.mostAcknowledgements, using: &generator))
        let (homes, numbers, ports) = (homes, numbers, servers.map(\.ports))
        let movers = journeys.map {
            Mover($0, homes, ports.map(\.publicPort), round, numbers, seed: generator.next())
        }
        let workers = ports.map { TripWorker(at: $0.adminPort, round, numbers, seed: generator.next()) }
        let parts = try await withThrowingTaskGroup(of: Part.self) { group in
            for (place, mover) in movers.enumerated() {
                group.addTask {
                    try await blocking {
                        var mover = mover
                        try mover.run()
                        return .mover(place, mover.known, moves: mover.moves, cut: mover.cut)
                    }
                }
            }
            for worker in workers {
                group.addTask {
                    try await blocking {
                        var worker = worker
                        worker.run()
                        return .worker(worker.results)
                    }
                }
            }
            group.addTask {
                await round.whenTime(kill)
                return .kill
            }
            // A mover has got a response that is never right, or none goes on.
            defer { round.end() }
            var (parts, running) = ([Part](), movers.count)
            while let part = try await group.next() {
                parts.append(part)
                if case .mover = part { running -= 1 }
                if running == 0 { round.end() }
            }
            return parts
        }
        for part in parts {
            switch part {
            case .mover(let place, let known, let moves, let cut):
                journeys[place] = known
                report.moves += moves
                report.cut += cut
            case .worker(let results): self.results.merge(results)
            case .kill: break
            }
        }
    }

    /// Sends some of the requests again that got no response. A copy of one that was executed finds the same journey.
    private mutating func repeatSome() async throws {
        for place in journeys.indices where journeys[place].open.count == 1 && Bool.random(using: &generator) {
            let (homes, move) = (homes, journeys[place].open[0])
            let port = servers[Int.random(in: 0..<servers.count, using: &generator)].ports.publicPort
            let response = try await blocking {
                try Trip.send("POST", Trip.journeys, move.body(homes), token: homes[move.target].token, to: port)
            }
            switch response.status {
            case 201:
                let known = journeys[place]
                journeys[place].left.append(known.place)
                journeys[place].place = Trip.Place(home: move.target, journey: response[member: "id"]?.string ?? "")
                journeys[place].open = []
                report.made += 1
            // It was refused for good, or is refused now.
            case 404, 409, 503: break
            default:
                throw Torture.Violation(description: "a copy of a move: \(response.status) \(response.text)")
            }
        }
    }

    // MARK: - Checking

    private mutating func check(mayBeBusy: Bool) async throws {
        let ports = servers[Int.random(in: 0..<servers.count, using: &generator)].ports
        let sight: TripSight
        do {
            sight = try await look(at: ports)
        } catch  where redis != nil {
            // What was sent to Redis before a kill may have come meanwhile.
            sight = try await look(at: ports)
        }
        if !mayBeBusy, let busy = sight.seen.first(where: \.isBusy) {
            throw Torture.Violation(description: "\(busy.place) is still busy")
        }
        report.underway += sight.underway
        for place in journeys.indices {
            guard let seen = sight.seen.first(where: { $0.number == journeys[place].number }) else { continue }
            let hasMoved = seen.place != journeys[place].place
            if hasMoved { report.made += 1 }
            if hasMoved || redis == nil { journeys[place].open = [] }
            (journeys[place].place, journeys[place].left) = (seen.place, [])
        }
    }

    private func look(at ports: Trip.Ports) async throws -> TripSight {
        try await blocking { [homes, journeys, results] in
            let sight = try TripSight.settled(homes, count: journeys.count, at: ports)
            try sight.check(journeys, results, homes, at: ports)
            return sight
        }
    }
}
