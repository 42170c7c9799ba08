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
    private let first: Int64

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
        let now = clock.now()
        let wall = clock.wall(at: now)
        let last = series.newest(now: wall / 1_000).map { now - (wall - $0 * 1_000) }
        state = Mutex(State(lastGood: last ?? now))
        first = last.map { $0 + every } ?? now
    }

    /// Makes backups until the task is cancelled.
    func run() async {
        var next = first
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
        switch await add(at: clock.wall(at: now) / 1_000) {
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

    /// Works on a thread of its own. A task that is cancelled waits until the store is not read any more, since it is
    /// closed then, and not for the check.
    ///
    /// - Returns: nil when the task is cancelled.
    private func add(at time: Int64) async -> Result<BackupSeries.Backup, any Error>? {
        let isCancelled = Flag()
        let (copied, endOfCopy) = AsyncStream<Never>.makeStream()
        let (results, result) = AsyncStream<Result<BackupSeries.Backup, any Error>>.makeStream()
        DetachedThread.run("store backup") { [series, store] in
            result.yield(
                Result {
                    try series.add(
                        store, now: time, isEnded: { isCancelled.isSet.load(ordering: .relaxed) },
                        copied: endOfCopy.finish)
                })
            endOfCopy.finish()
            result.finish()
        }
        await withTaskCancellationHandler {
            // A task of its own, which is not cancelled.
            await Task { for await _ in copied {} }.value
        } onCancel: {
            isCancelled.isSet.store(true, ordering: .relaxed)
        }
        for await result in results where !Task.isCancelled { return result }
        return nil
    }

    private final class Flag: Sendable {
        let isSet = Atomic(false)
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
