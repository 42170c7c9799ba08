import Configuration
import Operations
import SQLiteStorage
import Sessions
import Synchronization
import Threads

/// Backs the store up every so often while the server runs. What fails is said in the log and in the metrics, and keeps
/// no request waiting.
final class StoreBackups: Sendable {
    private struct State {
        /// Steady time. Without a good backup, when the server started.
        var lastGood: Int64
        var failed = 0
    }

    private let store: SQLiteStore
    private let series: BackupSeries
    private let every: Int64
    private let clock: any SessionClock
    private let log: Log
    private let state: Mutex<State>

    /// In milliseconds. What is wrong may be mended soon, such as a directory that is not mounted.
    private static let longestRetry: Int64 = 300_000

    /// Nil without a directory, and for a store that has no file.
    init?(_ configuration: Configuration, _ store: any SessionStore, clock: any SessionClock, log: Log) {
        guard let directory = configuration.backup.directory, case .sqlite(let path) = configuration.store,
            let store = store as? SQLiteStore
        else { return nil }
        self.store = store
        (self.clock, self.log) = (clock, log)
        let every = configuration.backup.every.milliseconds
        self.every = every
        series = BackupSeries(
            in: directory, of: path, keep: configuration.backup.keep, keys: configuration.encryptionKeys)
        state = Mutex(State(lastGood: clock.now()))
    }

    /// Makes backups until the task is cancelled.
    func run() async {
        var next = clock.now()
        let wall = clock.wall(at: next)
        // Whatever keeps its disk from answering must not keep the server from starting.
        if let last = await onThread({ [series] _ in series.newest(now: wall / 1_000) }) ?? nil {
            let time = next - (wall - last * 1_000)
            state.withLock { $0.lastGood = time }
            next = time + every
        }
        while !Task.isCancelled {
            let now = clock.now()
            guard now >= next else {
                try? await clock.sleep(milliseconds: next - now)
                continue
            }
            next = now + (await make(at: now) ? every : min(every, Self.longestRetry))
        }
    }

    /// - Returns: false when it has to be tried again before its time.
    private func make(at now: Int64) async -> Bool {
        let begun = ContinuousClock.now
        let time = clock.wall(at: now) / 1_000
        let result = await onThread { [series, store] gate in
            Result { try series.add(store, now: time, isEnded: gate.isEnded, copied: gate.finish) }
        }
        switch result {
        case nil: return true
        case .failure(let error):
            state.withLock { $0.failed += 1 }
            log.write(.error, "backup_failed") { $0.add("detail", "\(error)") }
            return false
        case .success(let backup):
            if let damage = backup.damage {
                state.withLock { $0.failed += 1 }
                log.write(.error, "backup_damaged") {
                    $0.add("file", backup.file)
                    $0.add("detail", "\(damage) Older backups stay: `concierge store check` tells what is damaged.")
                }
                return true
            }
            state.withLock { $0.lastGood = now }
            log.write(.info, "backup_made") {
                $0.add("file", backup.file)
                $0.add("bytes", backup.bytes)
                $0.add("sessions", backup.sessions)
                $0.add("duration_ms", Int((ContinuousClock.now - begun).milliseconds))
            }
            if let obstacle = backup.obstacle {
                log.write(.error, "backup_not_removed") { $0.add("detail", obstacle) }
            }
            return true
        }
    }

    /// Works on a thread of its own. A task that is cancelled waits while the store is read, since it is closed then,
    /// and for nothing else: not for the check, nor for a disk that does not answer.
    ///
    /// - Returns: nil when the task is cancelled.
    private func onThread<Value: Sendable>(_ body: @escaping @Sendable (Gate) -> Value) async -> Value? {
        let gate = Gate()
        let (values, end) = AsyncStream<Value>.makeStream()
        DetachedThread.run("store backup") {
            end.yield(body(gate))
            gate.finish()
            end.finish()
        }
        await withTaskCancellationHandler(operation: gate.wait, onCancel: gate.close)
        for await value in values where !Task.isCancelled { return value }
        return nil
    }

    /// Whether a thread may read the store, and whether it does.
    private final class Gate: Sendable {
        private struct State {
            var isEnded = false
            var isReading = false
        }

        private let state = Mutex(State())
        private let (read, end) = AsyncStream<Never>.makeStream()

        /// Asked before the store is read, and while it is.
        func isEnded() -> Bool {
            state.withLock { state in
                state.isReading = !state.isEnded
                return state.isEnded
            }
        }

        func close() {
            let isReading = state.withLock { state in
                state.isEnded = true
                return state.isReading
            }
            if !isReading { finish() }
        }

        func finish() { end.finish() }

        /// Returns after ``finish()``, in a task of its own, which is not cancelled.
        func wait() async { await Task { [read] in for await _ in read {} }.value }
    }

    func write(to metrics: inout OpenMetricsWriter) {
        let (now, state) = (clock.now(), state.withLock(\.self))
        metrics.gauge(
            "concierge_backup_age_seconds", unit: "seconds",
            help: "Time since the last good backup; without one, since the server started.",
            Double(max(0, now - state.lastGood)) / 1_000)
        metrics.counter("concierge_backups_failed", help: "Backups that failed, or were damaged.", state.failed)
    }
}
