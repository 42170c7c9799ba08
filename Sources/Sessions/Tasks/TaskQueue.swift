import Synchronization

/// Callers that wait for tasks of a name. It knows no tasks: it wakes a caller that should ask the store again.
final class TaskQueue: Sendable {
    private struct Waiter {
        let number: Int
        let continuation: UnsafeContinuation<Void, Never>
    }

    private struct Line {
        var waiters: [Waiter] = []
        /// Grows when there may be something to claim.
        var mark: UInt64 = 0
        /// When a task has to be handed out that waits for its time, and the task that waits for that.
        var alarm: (time: Int64, task: Task<Void, Never>)?
    }

    private struct State {
        var lines: [String: Line] = [:]
        var nextNumber = 0
        var isClosed = false
    }

    private let state = Mutex(State())
    private let clock: any SessionClock

    init(clock: any SessionClock) { self.clock = clock }

    /// To be taken before the store is asked; see ``wait(for:since:until:)``.
    func mark(of name: String) -> UInt64 { state.withLock { $0.lines[name]?.mark ?? 0 } }

    /// Waits until there may be something to claim, or the time is over.
    ///
    /// - Parameter mark: from before the store was asked. If there has been something since, this returns at once.
    nonisolated(nonsending) func wait(for name: String, since mark: UInt64, until deadline: Int64) async {
        let number = state.withLock { state in
            state.nextNumber += 1
            return state.nextNumber
        }
        let clock = clock
        let timer = Task { [weak self] in
            try? await clock.sleep(milliseconds: max(0, deadline - clock.now()))
            self?.release(number, of: name)
        }
        await withUnsafeContinuation { continuation in
            let isQueued = state.withLock { state in
                guard !state.isClosed, state.lines[name]?.mark ?? 0 == mark, clock.now() < deadline else {
                    return false
                }
                state.lines[name, default: Line()].waiters.append(Waiter(number: number, continuation: continuation))
                return true
            }
            if !isQueued { continuation.resume() }
        }
        timer.cancel()
    }

    /// Wakes one waiting caller for each task.
    func tell(_ changes: [TaskChange]) {
        for case .begun(let task) in changes { wake(task.name, all: false) }
    }

    /// A task of that name is to be handed out at that time.
    func expect(_ name: String, at time: Int64) {
        guard time < .max else { return }
        let clock = clock
        state.withLock { state in
            guard !state.isClosed else { return }
            if let alarm = state.lines[name]?.alarm {
                if alarm.time <= time { return }
                alarm.task.cancel()
            }
            let task = Task { [weak self] in
                do {
                    try await clock.sleep(milliseconds: max(0, time - clock.now()))
                } catch {
                    return
                }
                self?.ring(name, at: time)
            }
            state.lines[name, default: Line()].alarm = (time, task)
        }
    }

    /// Lets all callers go; none waits from now on.
    func close() {
        let (waiters, alarms) = state.withLock { state in
            state.isClosed = true
            defer { state.lines = [:] }
            return (state.lines.values.flatMap(\.waiters), state.lines.values.compactMap(\.alarm))
        }
        for alarm in alarms { alarm.task.cancel() }
        for waiter in waiters { waiter.continuation.resume() }
    }

    var isClosed: Bool { state.withLock(\.isClosed) }

    private func ring(_ name: String, at time: Int64) {
        state.withLock { state in
            if state.lines[name]?.alarm?.time == time { state.lines[name]?.alarm = nil }
        }
        wake(name, all: true)
    }

    private func wake(_ name: String, all: Bool) {
        let woken = state.withLock { state -> [Waiter] in
            guard !state.isClosed else { return [] }
            state.lines[name, default: Line()].mark += 1
            guard let count = state.lines[name]?.waiters.count, count > 0 else { return [] }
            defer { state.lines[name]?.waiters.removeFirst(all ? count : 1) }
            return Array(state.lines[name]?.waiters.prefix(all ? count : 1) ?? [])
        }
        for waiter in woken { waiter.continuation.resume() }
    }

    private func release(_ number: Int, of name: String) {
        let waiter = state.withLock { state -> Waiter? in
            guard var line = state.lines[name], let place = line.waiters.firstIndex(where: { $0.number == number })
            else { return nil }
            let waiter = line.waiters.remove(at: place)
            // A name that nothing ever came of is forgotten.
            state.lines[name] = line.waiters.isEmpty && line.mark == 0 && line.alarm == nil ? nil : line
            return waiter
        }
        waiter?.continuation.resume()
    }
}
