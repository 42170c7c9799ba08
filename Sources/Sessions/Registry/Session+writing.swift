extension Session {
    /// Makes the next state and commits it, all or nothing.
    ///
    /// The units of work of one session run one after the other, each on the state that the previous one made. They
    /// become visible when they are durable (``Pipeline``). If processes share the store, a unit can lose against
    /// another process: then `body` runs again on the newer state.
    ///
    /// - Parameters:
    ///   - isLong: whether `body` may take long, whatever the size of the session.
    ///   - hasPrecedence: whether it must not keep losing.
    ///   - once: the request that it is for, if copies of that must not be executed again. Then ``ExecutedBefore`` may
    ///     come in place of the result.
    ///   - body: changes only the copy that it gets. When it throws, nothing changes.
    ///   - done: called once with the result, before this returns or later on a thread of the store, where it must take
    ///     no time.
    func transact<Value: Sendable>(
        isLong: Bool = false, hasPrecedence: Bool = false, once: Once<Value>? = nil,
        _ body: @escaping @Sendable (inout PendingState) throws -> Value, then done: @escaping Completion<Value>
    ) {
        // The thread that has the session's turn writes to it, and it is read after the unit has ended.
        nonisolated(unsafe) var result: Result<Value, any Error>?
        begin(
            QueuedWork(in: self, isLong: isLong, hasPrecedence: hasPrecedence) { [self] pending in
                do {
                    if let once { try pending.checkIsNew(once.id, in: self) }
                    let value = try body(&pending)
                    if let replay = once?.replay(value) { pending.replay = replay }
                    result = .success(value)
                    return true
                } catch {
                    result = .failure(error)
                    return false
                }
            } then: { refusal in
                done(refusal.map { .failure($0) } ?? result ?? .failure(SessionError.ended))
            })
    }

    /// Called with the result of a unit of work.
    package typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

    /// The same, waiting.
    nonisolated(nonsending) func transact<Value: Sendable>(
        isLong: Bool = false, hasPrecedence: Bool = false, once: Once<Value>? = nil,
        _ body: @escaping @Sendable (inout PendingState) throws -> Value
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { waiting in
            transact(isLong: isLong, hasPrecedence: hasPrecedence, once: once, body) { waiting.resume(with: $0) }
        }
    }

    /// Runs the unit of work that has the turn, and hands its commit to the store.
    func run(_ work: QueuedWork) {
        let commit: SessionCommit?
        do {
            commit = try work.run(on: pendingState { $0.pipeline?.head })
        } catch {
            return work.conclude(error)
        }
        let usedAt = state.withLock { $0.submit(work) }
        guard let usedAt, var commit else { return publish() }
        commit.usedAt = usedAt
        environment.store.commit(commit) { work.session.publish(work, $0) }
    }

    /// A copy of the durable state, to read.
    func pendingState() throws(SessionError) -> PendingState { try pendingState { _ in nil } }

    /// - Parameter head: selects the state to copy; `nil` for the durable state.
    private func pendingState(_ head: (borrowing State) -> Pipeline.Head?) throws(SessionError) -> PendingState {
        let now = environment.clock.now()
        return try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            guard let head = head(state) else { return state.pending(environment.catalog, now: now) }
            return PendingState(
                base: head.record, unwritten: head.unwritten, catalog: environment.catalog, now: now,
                memory: head.memory)
        }
    }

    /// Publishes what is durable and calls the callers back, in order. If another thread is doing so already, it does
    /// the rest as well.
    ///
    /// - Parameters:
    ///   - finished: the unit that the store has called back for.
    ///   - failure: `nil` when it is durable.
    private func publish(_ finished: QueuedWork? = nil, _ failure: StoreError? = nil) {
        var (published, next) = state.withLock { state -> (QueuedWork?, QueuedWork?) in
            finished?.failure = failure
            finished?.isFinished = true
            guard state.pipeline?.isPublishing == false else { return (nil, nil) }
            return state.publishNext(in: self)
        }
        while let work = published {
            tell(work)
            (published, next) = state.withLock { state in
                _ = state.pipeline?.underWay.popFirst()
                return state.publishNext(in: self)
            }
        }
        // The store's thread runs no unit of work.
        proceed(with: next, atMost: 0)
    }

    private func tell(_ work: QueuedWork) {
        if let error = work.failure { return work.conclude(failure(error)) }
        if let result = work.result {
            announce(result, work.isFirstMemory, isWatched: work.isWatched)
            environment.makeRoom(near: result.pending.base.id)
        }
        work.conclude(nil)
    }

    /// Tells observers and watchers what has become visible.
    @inline(__always)
    private func announce(_ result: WorkResult, _ isFirstMemory: Bool, isWatched: Bool) {
        if isFirstMemory { noteMemory(result.pending.base.id) }
        if !result.newFlows.isEmpty { environment.knowFlows(result.newFlows) }
        if !result.pending.taskChanges.isEmpty { environment.tasks.tell(result.pending.taskChanges) }
        guard let record = result.record, isWatched || !environment.observers.isEmpty else { return }
        let changes = result.pending.sessionChanges(environment)
        environment.notify(record.id, changes, revision: record.revision)
        if isWatched { tellWatchers(changes, record) }
    }

    /// Why a unit of work failed whose commit the store refused.
    private func failure(_ error: StoreError) -> SessionError {
        if case .gone = error { endElsewhere() }
        return SessionError(error)
    }

    /// Loads what another process has committed, then lets the units that lost against it run again.
    func reloading() -> QueuedWork {
        QueuedWork(in: self, nil) { [self] refusal in
            if let refusal { return retry(unless: refusal) }
            Task {
                do throws(SessionError) {
                    if state.withLock({ $0.pipeline?.needsPrecedence ?? false }) {
                        // It can do without.
                        try? await environment.store.reserve(id)
                    }
                    try await reload()
                    retry(unless: nil)
                } catch {
                    retry(unless: error)
                }
                endTurn()
            }
        }
    }

    private func retry(unless refusal: SessionError?) {
        var refused = state.withLock { state -> WorkList in
            guard let pipeline = state.pipeline else { return WorkList() }
            pipeline.failure = nil
            pipeline.head = nil
            pipeline.needsPrecedence = false
            if refusal == nil { pipeline.waiting.prepend(&pipeline.retrying) }
            defer { pipeline.retrying = WorkList() }
            return pipeline.retrying
        }
        while let work = refused.popFirst() { work.conclude(refusal) }
    }
}
