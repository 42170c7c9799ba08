import Glibc
import HTTPTestClient
import RedisTestServer
import SeededRandomness
import Support
import Synchronization

/// Clients send requests with idempotency keys, each until it has a response, while one server after the other is killed
/// or ended, and started again; Redis, too, if they share one. At last each request must have been executed once.
struct KeyTorture {
    let folder: String
    /// Nil for a file of the one server.
    let redis: RedisTestServer?
    let servers: Int
    let seed: UInt64

    struct Violation: Error, CustomStringConvertible { let description: String }

    struct Report: Sendable, CustomStringConvertible {
        var kills = 0
        var executed = 0
        /// Responses to copies, whether or not the client had the first.
        var replayed = 0
        /// Copies whose first response has a token that is not valid any more.
        var expired = 0

        var description: String {
            "\(kills) kills, \(executed) requests executed, \(replayed) replayed, \(expired) expired"
        }
    }

    static let files = [
        "services/log.json": #"{"name":"log","default":{"list":[]},"schema":{"type":"object"}}"#,
        // Each step writes the number of its event.
        "flows/count.json": """
        {"id": "count", "version": 1, "initial": "here", "bound_to": "session", "states": {
           "here": {"on": {"move": {"target": "there", "nav": "set_root", "actions": [
             {"op": "add", "path": "/log/list/-", "value": {"$from": "/event/n"}}]}}},
           "there": {"on": {"move": {"target": "here", "nav": "set_root", "actions": [
             {"op": "add", "path": "/log/list/-", "value": {"$from": "/event/n"}}]}}}}}
        """,
        "flows/plain.json": """
        {"id": "plain", "version": 1, "initial": "only", "states": {
           "only": {"on": {"end": {"target": "over"}}}, "over": {"type": "final"}}}
        """,
    ]

    /// The servers, of which some are away at times.
    final class Fleet: Sendable {
        private let ports: Mutex<[(public: UInt16, admin: UInt16)]>
        private let numbers = Atomic<Int>(1)
        private let moments = Mutex<Moments?>(nil)
        let isOver = Atomic<Bool>(false)

        init(_ ports: [(public: UInt16, admin: UInt16)]) { self.ports = Mutex(ports) }

        subscript(place: Int) -> (public: UInt16, admin: UInt16) {
            get { ports.withLock { $0[place % $0.count] } }
            set { ports.withLock { $0[place] = newValue } }
        }

        /// Numbers of requests, each given once.
        func number() -> Int { numbers.wrappingAdd(1, ordering: .relaxed).oldValue }

        /// Counts responses until the next kill.
        func count(in moments: Moments?) { self.moments.withLock { $0 = moments } }
        func acknowledge() { moments.withLock(\.self)?.acknowledge() }

        /// A client has ended, in time or not: nobody else goes on.
        func end() {
            isOver.store(true, ordering: .sequentiallyConsistent)
            moments.withLock(\.self)?.isTime.happen()
        }
    }

    private static let clientCount = 6

    /// - Parameters:
    ///   - kills: the fewest.
    ///   - seconds: the least time.
    /// - Throws: ``Violation``; other errors when the servers do not work at all.
    func run(kills: Int, seconds: Int = 0) async throws -> Report {
        let end = ContinuousClock.now + .seconds(seconds)
        var generator = SeededGenerator(seed: seed)
        var processes: [ProgramProcess] = []
        let fleet = Fleet(Array(repeating: (0, 0), count: servers))
        for place in 0..<servers {
            let (process, ports) = try await start()
            processes.append(process)
            fleet[place] = ports
        }
        let seeds = (0..<Self.clientCount).map { _ in generator.next() }
        let report = try await withThrowingTaskGroup(of: Report.self) { group in
            for seed in seeds {
                group.addTask {
                    try await blocking {
                        defer { fleet.end() }
                        var client = KeyClient(fleet, seed: seed)
                        return try client.run()
                    }
                }
            }
            defer { fleet.end() }
            var report = Report()
            while report.kills < kills || ContinuousClock.now < end {
                report.kills += 1
                let moments = Moments(wanted: Int.random(in: 1...60, using: &generator))
                fleet.count(in: moments)
                if fleet.isOver.load(ordering: .sequentiallyConsistent) { break }
                await moments.isTime.wait()
                if let redis, Int.random(in: 0..<4, using: &generator) == 0 {
                    redis.kill()
                    try redis.start()
                    continue
                }
                let place = Int.random(in: 0..<servers, using: &generator)
                // Some ends are in order.
                processes[place].send(Int.random(in: 0..<5, using: &generator) == 0 ? SIGTERM : SIGKILL)
                _ = try await processes[place].result()
                let (process, ports) = try await start()
                processes[place] = process
                fleet[place] = ports
            }
            fleet.end()
            return try await group.reduce(into: report) {
                $0.executed += $1.executed
                $0.replayed += $1.replayed
                $0.expired += $1.expired
            }
        }
        for process in processes {
            process.send(SIGKILL)
            _ = try await process.result()
        }
        return report
    }

    private func start() async throws -> (ProgramProcess, (public: UInt16, admin: UInt16)) {
        let store = redis.map { "redis://127.0.0.1:\($0.port)" } ?? "sqlite:\(folder)/sessions.db"
        let process = try ProgramProcess(
            [
                "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--workers", "2", "--store", store,
                "--services", "\(folder)/services", "--flows", "\(folder)/flows", "--set", "main_flow=count",
                "--set", "log.requests=false", "--set", "rotation_grace=1h", "--set", "journeys.max=1000",
            ])
        let ports = try await process.ports()
        return (process, (ports.publicPort, ports.adminPort))
    }
}
