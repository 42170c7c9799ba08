/// The units of work of one session run one after the other: each takes the turn before it reads the state, and passes
/// it on when its commit was handed to the store (``Pipeline``).
extension Session {
    /// How many waiting units a thread runs after its own. The thread is a worker and has other connections.
    private static let turnsAtOnce = 16

    /// Waits until nothing is in progress, and keeps all others out until ``endTurn()``.
    ///
    /// - Parameter isLast: whether it overtakes the units that wait: there is no use in writing what is about to end.
    /// - Throws: ``SessionError/ended``, ``SessionError/contention`` when too many units wait.
    nonisolated(nonsending) func takeTurn(isLast: Bool = false) async throws(SessionError) {
        let refusal = await withUnsafeContinuation { continuation in
            begin(QueuedWork(in: self, nil) { continuation.resume(returning: $0) }, isFirst: isLast)
        }
        if let refusal { throw refusal }
    }

    /// Runs a unit of work, or queues it.
    func begin(_ work: QueuedWork, isFirst: Bool = false) {
        let (mayRun, refusal) = state.withLock { state -> (Bool, SessionError?) in
            guard !state.isEnded else { return (false, .ended) }
            if let pipeline = state.pipeline, !isFirst, pipeline.count > environment.settings.maxWaitingWriters {
                return (false, .contention)
            }
            if state.isFree(for: work) {
                state.isWriting = true
                return (true, nil)
            }
            if isFirst { state.neededPipeline.waiting.prepend(work) } else { state.neededPipeline.waiting.append(work) }
            return (false, nil)
        }
        if let refusal { return work.conclude(refusal) }
        if mayRun { proceed(with: work, atMost: Self.turnsAtOnce) }
    }

    /// Passes the turn on.
    func endTurn() { proceed(with: passTurn(), atMost: Self.turnsAtOnce) }

    private func passTurn() -> QueuedWork? {
        state.withLock { state in
            state.isWriting = false
            return state.nextTurn(in: self)
        }
    }

    /// Runs the unit that has the turn, and the units behind it.
    ///
    /// - Parameter limit: how many run on this thread; the others run on a thread of Swift's pool.
    func proceed(with first: QueuedWork?, atMost limit: Int) {
        var next = first
        var left = limit
        while let work = next {
            if work.isExclusive {
                guard state.withLock(\.isEnded) else { return work.conclude(nil) }
                work.conclude(.ended)
            } else if left > 0 {
                left -= 1
                run(work)
            } else {
                Task { proceed(with: work, atMost: .max) }
                return
            }
            next = passTurn()
        }
    }
}
