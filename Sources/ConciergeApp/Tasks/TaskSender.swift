import Configuration
import Glibc
import JSONDocument
import Operations
import Sessions
import Synchronization

/// Sends tasks to the addresses that the configuration names, signed as Standard Webhooks specifies, and takes what the
/// responses say as results.
///
/// | response | means |
/// |---|---|
/// | 200 with `{"outcome", "output"}` | the result, also with `sign_in`; one that the task cannot have is held |
/// | 202 | the result will be posted: the task waits for it |
/// | 4xx | the task has failed, whatever attempts are left |
/// | anything else, or none in time | the attempt has failed |
///
/// To a notice (``SessionNotice``) each 2xx means that it was received, and anything else that it is sent again.
final class TaskSender: Sendable {
    private let sessions: Sessions
    private let client: WebClient
    private let log: Log
    private let isStopping = Atomic(false)

    /// Nil when no thread can be started.
    init?(sessions: Sessions, log: Log) {
        guard let client = WebClient() else { return nil }
        self.client = client
        self.sessions = sessions
        self.log = log
    }

    /// No further task is sent.
    func beginStopping() { isStopping.store(true, ordering: .relaxed) }

    /// Requests in progress fail. After the next start, their tasks are sent again if attempts are left.
    func close() { client.close() }

    /// Sends the tasks of one name. Returns when the server stops and nothing is under way.
    func run(_ target: TaskTarget) async {
        let places = Places(target.concurrency)
        await withDiscardingTaskGroup { group in
            while !isStopping.load(ordering: .relaxed) {
                let free = await places.take()
                let tasks = await claim(target, atMost: min(free, TaskEndpoints.mostClaimed))
                places.giveBack(free - tasks.count)
                for task in tasks {
                    group.addTask { [self] in
                        await send(task, to: target)
                        places.giveBack(1)
                    }
                }
            }
        }
    }

    /// The lease is longer than a request may take, so that nobody else sends the task meanwhile.
    private func claim(_ target: TaskTarget, atMost limit: Int) async -> [ClaimedTask] {
        do {
            return try await sessions.claimTasks(
                named: target.name, max: limit, lease: target.timeout.milliseconds + Self.margin, wait: Self.wait)
        } catch {
            log.write(.warning, "tasks_not_claimed") { line in
                line.add("task", target.name)
                line.add("error", "\(error)")
            }
            try? await Task.sleep(for: .seconds(1))
            return []
        }
    }

    private static let margin: Int64 = 10_000
    private static let wait: Int64 = 60_000

    private func send(_ claimed: ClaimedTask, to target: TaskTarget) async {
        do {
            let response = try await client.post(request(for: claimed, to: target))
            try await whileStoreRefuses(until: claimed.task.due) { try await take(response, for: claimed) }
        } catch let failure as WebClient.Failure {
            if isStopping.load(ordering: .relaxed) { return }
            await fail(claimed, "The back end could not be reached.", failure.description)
        } catch is TaskError {
            // The journey has moved on meanwhile, or another attempt has begun.
        } catch let error as SessionError where error.isTemporary || error.isDamage {
            note(claimed, "The result could not be stored. \(String(reflecting: error))")
        } catch {
            // The work was done, and the response has ended the attempt: the result is held.
            await fail(claimed, "The result is not one that the task can have.", "\(error)")
        }
    }

    /// Tries again each second. What the store refuses is not the back end's failure.
    private func whileStoreRefuses(until end: Int64, _ body: () async throws -> Void) async throws {
        while true {
            do {
                return try await body()
            } catch let error as SessionError where error.isTemporary && sessions.now + 1_000 < end {
                try await Task.sleep(for: .seconds(1))
            }
        }
    }

    private func request(for claimed: ClaimedTask, to target: TaskTarget) -> WebClient.Request {
        let id = claimed.task.id.description
        var json = JSONWriter()
        json.task(claimed, leaseEnd: sessions.timestamp(claimed.task.due))
        let timestamp = Int64(time(nil))
        return WebClient.Request(
            url: target.url,
            fields: [
                "Content-Type: application/json", "Accept: application/json", "User-Agent: \(BuildInformation.name)",
                "webhook-id: \(id)", "webhook-timestamp: \(timestamp)",
                "webhook-signature: \(target.secret.signature(id: id, timestamp: timestamp, body: json.bytes))",
                // libcurl would ask first whether a long body is welcome, and wait.
                "Expect:",
            ],
            body: json.bytes, timeout: target.timeout)
    }

    private func take(_ response: WebClient.Response, for claimed: ClaimedTask) async throws {
        let (id, isNotice) = (claimed.task.id, claimed.task.notice != nil)
        switch response.status {
        case 200..<300 where isNotice: try await sessions.endTask(id, outcome: "received")
        case 200:
            guard let document = try? JSONDocument(parsing: response.body),
                let outcome = document[member: "outcome"]?.string
            else {
                return await fail(
                    claimed, "The back end gave no result.", "200 without a JSON object that has an outcome")
            }
            var report = TaskReport(outcome: outcome, output: document[member: "output"] ?? .null)
            report.signIn = document[member: "sign_in"]
            report.canHandOver = false
            try await sessions.endTask(id, by: report)
        case 202: _ = try await sessions.extendTask(id, attempt: claimed.task.attempt, lease: nil)
        case 400..<500 where !isNotice:
            let reason = "The back end responded with status \(response.status)."
            note(claimed, reason)
            try await sessions.failTask(id, attempt: claimed.task.attempt, reason: reason, isFinal: true)
        default: await fail(claimed, "The back end responded with status \(response.status).")
        }
    }

    /// - Parameter detail: for the log alone; `reason` is what the flow sees.
    private func fail(_ claimed: ClaimedTask, _ reason: String, _ detail: String? = nil) async {
        note(claimed, detail ?? reason)
        // What cannot be noted now is tried again when the lease ends.
        _ = try? await sessions.failTask(claimed.task.id, attempt: claimed.task.attempt, reason: reason)
    }

    private func note(_ claimed: ClaimedTask, _ detail: String) {
        log.write(.warning, "task_not_done") { line in
            line.add(claimed.task.id, named: claimed.task.name)
            line.add("attempt", claimed.task.attempt)
            line.add("detail", bounded: detail)
        }
    }
}

/// The thread that sends tasks cannot be started.
struct TaskSenderError: Error, CustomStringConvertible {
    var description: String { "no thread can be started to send tasks" }
}

/// How many more requests may be under way.
private final class Places: Sendable {
    private let state: Mutex<(free: Int, waiting: UnsafeContinuation<Int, Never>?)>

    init(_ count: Int) { state = Mutex((count, nil)) }

    /// All that are free, at least one. For one caller at a time.
    nonisolated(nonsending) func take() async -> Int {
        await withUnsafeContinuation { continuation in
            let free = state.withLock { state -> Int in
                guard state.free > 0 else {
                    state.waiting = continuation
                    return 0
                }
                defer { state.free = 0 }
                return state.free
            }
            if free > 0 { continuation.resume(returning: free) }
        }
    }

    func giveBack(_ count: Int) {
        guard count > 0 else { return }
        let (waiting, free) = state.withLock { state in
            state.free += count
            guard let waiting = state.waiting else { return (UnsafeContinuation<Int, Never>?.none, 0) }
            defer { state = (0, nil) }
            return (waiting, state.free)
        }
        waiting?.resume(returning: free)
    }
}
