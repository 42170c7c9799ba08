import Sessions
import Synchronization

/// What the writer's thread tells of itself to other threads.
final class WriterFigures: Sendable {
    private struct State {
        var writes = 0
        var commits = DurationCounts()
        var logPages = 0
        var freePages = 0
        var isDiskFull = false
    }

    private let state = Mutex(State())

    var isDiskFull: Bool {
        get { state.withLock(\.isDiskFull) }
        set { state.withLock { $0.isDiskFull = newValue } }
    }

    func noteGroup(of writes: Int, took duration: Duration) {
        let nanoseconds = UInt64(max(0, duration / .nanoseconds(1)))
        state.withLock { state in
            state.writes += writes
            state.commits.add(nanoseconds: nanoseconds)
        }
    }

    func note(logPages: Int, freePages: Int) {
        state.withLock { ($0.logPages, $0.freePages) = (logPages, freePages) }
    }

    func copy(to figures: inout StoreFigures) {
        let state = state.withLock(\.self)
        (figures.writes, figures.commits, figures.isDiskFull) = (state.writes, state.commits, state.isDiskFull)
        figures.logBytes = state.logPages * SQLiteSchema.pageSize
        figures.freeBytes = state.freePages * SQLiteSchema.pageSize
    }
}
