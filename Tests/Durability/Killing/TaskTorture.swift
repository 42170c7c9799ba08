import Glibc
import HTTPTestClient
import JSONDocument
import SeededRandomness
import Support
import Synchronization
import Testing

/// Rounds on one database with tasks in flight: clients begin tasks, workers fetch them and post results, the program
/// is killed, and started again.
///
/// Each journey writes down which tasks it has begun and which results it has taken, in the commits of its steps.
/// After each kill this and the list of tasks must agree with each other and with what was acknowledged.
struct TaskTorture {
    let folder: String
    let seed: UInt64
    private(set) var kills = 0
    private(set) var begun = 0
    private(set) var ended = 0
    private var generator: SeededGenerator
    private var sessions: [Worker] = []
    private var nextNumber = 1

    init(folder: String, seed: UInt64) {
        self.folder = folder
        self.seed = seed
        generator = SeededGenerator(seed: seed)
    }

    static let files = Server.files.merging([
        "services/log.json":
            #"{"name":"log","default":{"begun":[],"done":[],"odd":0},"schema":{"properties":{"odd":{"type":"integer"}}}}"#,
        "flows/work.json": """
        {"id": "work", "version": 1, "initial": "ready", "states": {
           "ready": {"on": {"begin": {"target": "busy", "actions": [
             {"op": "add", "path": "/log/begun/-", "value": {"$from": "/event/n"}}]}}},
           "busy": {"type": "task", "task": "work", "input": {"n": {"$from": "/event/n"}},
             "retry": {"attempts": 1000, "after": "1ms"},
             "on": {"done.odd": {"target": "ready", "nav": "pop_to", "actions": [
               {"op": "replace", "path": "/log/odd", "value": {"$from": "/output/odd"}}]},
                    "done": {"target": "ready", "nav": "pop_to", "actions": [
               {"op": "add", "path": "/log/done/-", "value": {"$from": "/output"}}]}}}}}
        """,
    ]) { $1 }

    /// A session whose journey begins tasks, and what its client knows.
    struct Worker: Sendable {
        let id: String
        let token: String
        /// The numbers of tasks whose step was acknowledged.
        var begun: Set<Int> = []
    }

    /// What back ends know, over all rounds.
    struct Results: Sendable {
        /// Those that were acknowledged, by their own numbers.
        var taken: [Int: Int] = [:]
        /// Those that were refused.
        var refused: Set<Int> = []
        /// The number of each task of which a result was acknowledged that its flow cannot take.
        var held: [String: Int] = [:]
    }

    private var results = Results()

    private static let sessionCount = 16
    private static let workerCount = 4

    /// - Throws: `Torture.Violation`.
    mutating func round() async throws {
        let residents = [2, 100_000].randomElement(using: &generator) ?? 2
        let server = try await Server(in: folder, settings: ["max_resident_bytes=\(residents * 600)"])
        try await prepare(server)
        let process = server.process
        let moments = Moments(wanted: Int.random(in: 1...400, using: &generator))
        let numbers = Numbers(next: nextNumber)
        let clients = sessions
        let seeds = (0..<Self.workerCount).map { _ in generator.next() }
        let (found, posted) = try await withThrowingTaskGroup(of: Part.self) { group in
            for (place, session) in clients.enumerated() {
                group.addTask {
                    .client(place, try await blocking { Self.begin(session, server.port, moments, numbers) })
                }
            }
            for seed in seeds {
                group.addTask {
                    .worker(try await blocking { Self.work(server.adminPort, seed, moments, numbers) })
                }
            }
            group.addTask {
                await moments.isTime.wait()
                process.send(SIGKILL)
                return .kill
            }
            var (found, posted, running) = ([Int: Set<Int>](), [Results](), clients.count)
            defer { moments.isTime.happen() }
            while running > 0, let part = try await group.next() {
                switch part {
                case .client(let place, let numbers):
                    found[place] = numbers
                    running -= 1
                case .worker(let results): posted.append(results)
                case .kill: break
                }
            }
            moments.isTime.happen()
            while let part = try await group.next() {
                if case .worker(let results) = part { posted.append(results) }
            }
            return (found, posted)
        }
        _ = try await process.result()
        kills += 1
        nextNumber = numbers.take()
        for (place, numbers) in found { sessions[place].begun.formUnion(numbers) }
        for part in posted {
            results.taken.merge(part.taken) { first, _ in first }
            results.refused.formUnion(part.refused)
            results.held.merge(part.held) { first, _ in first }
        }
        try await check(isLast: false)
    }

    private enum Part: Sendable {
        case client(Int, Set<Int>)
        case worker(Results)
        case kill
    }

    /// Numbers for tasks and results, each given once.
    final class Numbers: Sendable {
        private let next: Atomic<Int>

        init(next: Int) { self.next = Atomic(next) }

        func take() -> Int { next.wrappingAdd(1, ordering: .relaxed).oldValue }
    }

    private mutating func prepare(_ server: Server) async throws {
        let missing = Self.sessionCount - sessions.count
        guard missing > 0 else { return }
        let port = server.port
        sessions += try await blocking {
            try (0..<missing).map { _ in
                let connection = try Connection(port: port)
                let created = try connection.send("POST", "/v1/sessions")
                let token = created[member: "token"]?.string ?? ""
                _ = try connection.send(
                    "PUT", "\(Connection.Session.path)/journeys/main", #"{"flow":"work"}"#, token: token)
                return Worker(id: created[member: "session"]?[string: "id"] ?? "", token: token)
            }
        }
    }

    /// Longer than the leases of tasks whose results never come.
    private static let longestWait = Duration.seconds(15)

    /// Begins one task after another until the server is gone.
    private static func begin(_ session: Worker, _ port: UInt16, _ moments: Moments, _ numbers: Numbers) -> Set<Int> {
        var begun: Set<Int> = []
        guard let connection = try? Connection(port: port, token: session.token) else { return begun }
        let path = "\(Connection.Session.path)/journeys/main/events"
        while true {
            let number = numbers.take()
            let end = ContinuousClock.now + longestWait
            while true {
                // Without its task a journey waits forever: the check after the kill says which one.
                guard ContinuousClock.now < end else {
                    moments.isTime.happen()
                    return begun
                }
                guard let response = try? connection.send("POST", path, #"{"event":"begin","data":{"n":\#(number)}}"#)
                else {
                    return begun
                }
                if response.status == 200 { break }
                // It waits for the task before.
                usleep(500)
            }
            begun.insert(number)
            moments.acknowledge()
        }
    }

    /// Fetches tasks and posts results until the server is gone: sometimes twice, sometimes late, sometimes a failure,
    /// and sometimes none before the lease ends.
    private static func work(_ port: UInt16, _ seed: UInt64, _ moments: Moments, _ numbers: Numbers) -> Results {
        var generator = SeededGenerator(seed: seed)
        var results = Results()
        guard let connection = try? Connection(port: port) else { return results }
        /// Tasks that are over, whose results are posted once more later.
        var former: [(id: String, n: Int)] = []
        func post(_ id: String, _ n: Int) throws {
            let result = numbers.take()
            let response = try connection.send(
                "POST", "/v1/tasks/\(id)/result", #"{"outcome":"ok","output":{"n":\#(n),"result":\#(result)}}"#)
            if response.status == 204 { results.taken[result] = n } else { results.refused.insert(result) }
        }
        /// Tasks of which a result is held: an operator ends them a moment later.
        var held: [(id: String, n: Int)] = []
        do {
            let left = try connection.send("GET", "/v1/tasks?status=held&limit=100")
            for task in left.items {
                guard let id = task[string: "id"], let n = task[member: "result"]?[member: "output"]?[member: "n"]?.int
                else { continue }
                held.append((id, n))
            }
            while true {
                for task in held { try post(task.id, task.n) }
                held = []
                let claimed = try connection.send(
                    "POST", "/v1/tasks/claims", #"{"task":"work","max":4,"lease":"1s","wait":"200ms"}"#)
                for task in claimed.items {
                    guard let id = task[string: "id"], let n = task[member: "input"]?[member: "n"]?.int else {
                        continue
                    }
                    switch Int.random(in: 0..<20, using: &generator) {
                    case 0: continue
                    case 1: _ = try connection.send("POST", "/v1/tasks/\(id)/failure", #"{"reason":"x"}"#)
                    case 2:
                        let odd = try connection.send(
                            "POST", "/v1/tasks/\(id)/result", #"{"outcome":"odd","output":{"n":\#(n),"odd":"x"}}"#)
                        if odd.status == 202 {
                            results.held[id] = n
                            held.append((id, n))
                        }
                    case 3..<6:
                        try post(id, n)
                        try post(id, n)
                    default: try post(id, n)
                    }
                    former.append((id, n))
                    if Bool.random(using: &generator), let old = former.randomElement(using: &generator) {
                        try post(old.id, old.n)
                    }
                    moments.acknowledge()
                }
            }
        } catch {
            // Without back ends the round would not end.
            moments.isTime.happen()
            return results
        }
    }

    // MARK: - Checking

    /// Ends all tasks, and checks that each has one result.
    mutating func finish() async throws { try await check(isLast: true) }

    private mutating func check(isLast: Bool) async throws {
        let server = try await Server(in: folder)
        let (sessions, seed, numbers) = (sessions, generator.next(), Numbers(next: nextNumber))
        if isLast {
            let end = Moments(wanted: .max)
            try await withThrowingTaskGroup(of: Results.self) { group in
                group.addTask { try await blocking { Self.work(server.adminPort, seed, end, numbers) } }
                // The leases of before the kill end within a second.
                for _ in 0..<500 {
                    let left = try await TestClient(port: server.adminPort).get("/v1/tasks").items
                    if left.isEmpty { break }
                    // An operator ends what is held.
                    for task in left where task[string: "status"] == "held" {
                        let (id, result) = (task[string: "id"] ?? "", numbers.take())
                        // The server may have been killed before it said so.
                        let n = results.held[id] ?? task[member: "result"]?[member: "output"]?[member: "n"]?.int
                        guard let n else { continue }
                        let body = #"{"outcome":"ok","output":{"n":\#(n),"result":\#(result)}}"#
                        _ = try await TestClient(port: server.adminPort).send(
                            "POST", "/v1/tasks/\(id)/result", json: body)
                    }
                    try await blocking { _ = usleep(20_000) }
                }
                do {
                    try await look(server, sessions, mayBeBusy: false)
                } catch {
                    // The back end works until the server is gone.
                    try await server.kill()
                    throw error
                }
                try await server.kill()
                for try await results in group { self.results.taken.merge(results.taken) { first, _ in first } }
            }
        } else {
            try await look(server, sessions, mayBeBusy: true)
            try await server.kill()
            kills += 1
        }
    }

    private mutating func look(_ server: Server, _ sessions: [Worker], mayBeBusy: Bool) async throws {
        let (port, adminPort) = (server.port, server.adminPort)
        let list = try await blocking { try Connection(port: adminPort).send("GET", "/v1/tasks?limit=100") }
        guard list.status == 200 else { throw Connection.Unexpected(description: "\(list.status) \(list.text)") }
        let listed = list.items
        (begun, ended) = (0, 0)
        var shown: [Int: Int] = [:]
        for session in sessions {
            let (journey, log) = try await blocking {
                let connection = try Connection(port: port, token: session.token)
                return (
                    try connection.send("GET", "\(Connection.Session.path)/journeys/main"),
                    try connection.send("GET", "\(Connection.Session.path)/services/log")
                )
            }
            let isBusy = journey[member: "screen"]?[string: "status"] == "busy"
            let begun = (log[member: "begun"]?.elements ?? []).compactMap(\.int)
            let done = (log[member: "done"]?.elements ?? []).map {
                ($0[member: "n"]?.int ?? 0, $0[member: "result"]?.int ?? 0)
            }
            let tasks = listed.filter { $0[string: "session"] == session.id }
            func expect(_ holds: Bool, _ what: String) throws {
                if holds { return }
                throw Torture.Violation(
                    description: "seed \(seed), kill \(kills), \(session.id): \(what); begun \(begun.suffix(5)), "
                        + "done \(done.suffix(5)), busy \(isBusy), tasks \(tasks)")
            }
            try expect(session.begun.isSubset(of: begun), "an acknowledged step was lost")
            try expect(Set(begun).count == begun.count, "a step was done twice")
            try expect(
                tasks.count == (isBusy ? 1 : 0), isBusy ? "a task was lost, or made twice" : "a task outlived its step")
            try expect(done.map(\.0) == begun.dropLast(isBusy ? 1 : 0), "results are missing, or were taken twice")
            try expect(mayBeBusy || !isBusy, "a task was never done")
            for (id, n) in results.held where id.contains(session.id.dropFirst("ses_".count)) {
                let task = tasks.first { $0[string: "id"] == id }
                try expect(
                    done.contains { $0.0 == n } || task?[string: "status"] == "held",
                    "the result of task \(n) was acknowledged and is lost")
            }
            for (n, result) in done {
                try expect(!results.refused.contains(result), "a result that was refused was taken")
                try expect(results.taken[result].map { $0 == n } ?? true, "a result was taken for another task")
                shown[result] = n
            }
            self.begun += begun.count
            self.ended += done.count
        }
        for (result, n) in results.taken where shown[result] != n {
            throw Torture.Violation(description: "seed \(seed), kill \(kills): result \(result) of task \(n) was lost")
        }
    }
}
