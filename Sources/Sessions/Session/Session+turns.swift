import Threads

/// The units of work of one session run one after the other: each takes the turn before it reads the state, and passes
/// it on when its commit was handed to the store (``Pipeline``).
extension Session {
    /// How many waiting units a thread runs after its own. The thread is a worker and has other connections.
    private static let turnsAtOnce = 16

    /// With this many bytes of services, units of work run on Swift's pool, not on a worker's thread: they parse,
    /// validate and write documents, and show journeys with them.
    private static let largeSize = 16_384

    /// Whether showing journeys may take long as well.
    package var isLarge: Bool { state.withLock { $0.record.size >= Self.largeSize } }

    /// Runs work where it delays no other client if that may take long, else on the worker's thread.
    nonisolated(nonsending) func withTimeEnough<Value: Sendable>(
        _ work: @Sendable () async throws -> Value
    ) async throws -> Value {
        guard isLarge else { return try await work() }
        return try await withTaskExecutorPreference(globalConcurrentExecutor) {
            ThreadSlice.makeLong()
            return try await work()
        }
    }

    /// Waits until nothing is in progress, and keeps all others out until ``endTurn()``.
    ///
    /// - Parameter isLast: whether it overtakes the units that wait: there is no use in writing what is about to end.
    /// - Throws: ``SessionError/ended``, ``SessionError/contention`` when too many units wait.
    nonisolated(nonsending) func takeTurn(isLast: Bool = false, isBounded: Bool = true) async throws(SessionError) {
        let refusal = await withUnsafeContinuation { continuation in
            begin(
                QueuedWork(in: self, nil) { continuation.resume(returning: $0) }, isFirst: isLast, isBounded: isBounded)
        }
        if let refusal { throw refusal }
    }

    /// Takes the turn for a unit that meets no other; ``endTurn()`` has to follow.
    ///
    /// - Returns: a copy of the state; `nil` when the unit has to queue.
    func takeTurnAtOnce(isLong: Bool) throws(SessionError) -> PendingState? {
        if isLong { return nil }
        let now = environment.clock.now()
        return try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            guard !state.isBusy, state.record.size < Self.largeSize else { return nil }
            state.isWriting = true
            return state.pending(environment.definitions, now: now)
        }
    }

    /// Runs a unit of work, or queues it.
    func begin(_ work: QueuedWork, isFirst: Bool = false, isBounded: Bool = true) {
        let (turns, refusal) = state.withLock { state -> (Int?, SessionError?) in
            guard !state.isEnded else { return (nil, .ended) }
            if isBounded, !isFirst, let pipeline = state.pipeline,
                pipeline.count > environment.settings.maxWaitingWriters
            {
                return (nil, .contention)
            }
            let isLong = state.record.size >= Self.largeSize || work.isLong
            if state.isFree(for: work) {
                state.isWriting = true
                return (isLong ? 0 : Self.turnsAtOnce, nil)
            }
            if isFirst { state.neededPipeline.waiting.prepend(work) } else { state.neededPipeline.waiting.append(work) }
            return (nil, nil)
        }
        if let refusal { return work.conclude(refusal) }
        if let turns { proceed(with: work, atMost: turns) }
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
    /// - Parameters:
    ///   - limit: how many run now; the others run later, on a thread of Swift's pool.
    ///   - isBeside: whether this is such a thread.
    func proceed(with first: QueuedWork?, atMost limit: Int, isBeside: Bool = false) {
        var next = first
        var left = limit
        while let work = next {
            if work.isExclusive {
                guard state.withLock(\.isEnded) else { return work.conclude(nil) }
                work.conclude(.ended)
            } else if left > 0, isBeside || !work.isLong {
                left = work.isLong ? 0 : left - 1
                run(work)
            } else {
                Task.detached { [self] in
                    ThreadSlice.makeLong()
                    proceed(with: work, atMost: Self.turnsAtOnce, isBeside: true)
                }
                return
            }
            next = passTurn()
        }
    }
}
