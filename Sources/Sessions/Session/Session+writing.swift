extension Session {
    /// Makes the next state and commits it, all or nothing.
    ///
    /// The units of work of one session run one after the other, each on the state that the previous one made, and
    /// become visible when they are durable. One that meets no other runs at once. It queues (``Pipeline``) when it
    /// meets another, or when its commit takes time. If processes share the store, a unit can lose against another
    /// process: then `body` runs again on the newer state.
    ///
    /// - Parameters:
    ///   - isLong: whether `body` may take long, whatever the size of the session.
    ///   - hasPrecedence: whether it must not keep losing.
    ///   - token: that of a caller for whom the session was only remembered (``Sessions/Finding``). Its commit
    ///     shows whether that was right; if there is none, ``Unconfirmed`` comes in place of the result.
    ///   - once: the request that it is for, if copies of that must not be executed again. Then ``ExecutedBefore`` may
    ///     come in place of the result.
    ///   - body: changes only the copy that it gets. When it throws, nothing changes.
    ///   - done: called once with the result, before this returns or later on a thread of the store, where it must take
    ///     no time.
    func transact<Value: Sendable>(
        isLong: Bool = false, hasPrecedence: Bool = false, presenting token: TokenDigest? = nil,
        once: Once<Value>? = nil, _ body: @escaping @Sendable (inout PendingState) throws -> Value,
        then done: @escaping Completion<Value>
    ) {
        let start: PendingState?
        do {
            start = try takeTurnAtOnce(isLong: isLong)
        } catch {
            return done(.failure(error))
        }
        guard var pending = consume start else {
            return begin(queued(nil, isLong, hasPrecedence, token, once, body, done))
        }
        defer { endTurn() }
        let value: Value
        do {
            value = try attempt(token, once, body, on: &pending)
        } catch {
            return done(.failure(token == nil ? error : Unconfirmed()))
        }
        guard var commit = environment.commit(of: pending) else {
            guard token == nil else { return done(.failure(Unconfirmed())) }
            adopt(pending, nil)
            return done(.success(value))
        }
        guard let store = environment.promptStore else {
            let work = queued(value, isLong, hasPrecedence, token, once, body, done)
            return submit(work, WorkResult(consume pending, commit))
        }
        commit.usedAt = state.withLock { $0.takeUse() }
        if let failure = store.commit(commit) {
            // It runs again, in the queue, which loads the newer state.
            if case .conflict = failure { return begin(queued(nil, isLong, hasPrecedence, token, once, body, done)) }
            return done(.failure(self.failure(failure)))
        }
        adopt(pending, commit)
        done(.success(value))
    }

    /// Makes the result of a unit that met no other visible.
    @inline(__always)
    private func adopt(_ pending: borrowing PendingState, _ commit: SessionCommit?) {
        let (isFirstMemory, isWatched) = state.withLock { state in
            (state.adopt(pending, commit?.record, environment), state.isWatched)
        }
        announce(pending, commit, isFirstMemory, isWatched: isWatched)
    }

    /// A unit that waits for its turn, or for its commit.
    ///
    /// - Parameter first: the result of its first run, if it has run.
    private func queued<Value: Sendable>(
        _ first: Value?, _ isLong: Bool, _ hasPrecedence: Bool, _ token: TokenDigest?, _ once: Once<Value>?,
        _ body: @escaping @Sendable (inout PendingState) throws -> Value, _ done: @escaping Completion<Value>
    ) -> QueuedWork {
        // The thread that has the session's turn writes to both, and they are read after the unit has ended.
        nonisolated(unsafe) var result = first.map { Result<Value, any Error>.success($0) }
        // Another run is on what the store has.
        nonisolated(unsafe) var isConfirmed = token == nil || first != nil
        return QueuedWork(in: self, isLong: isLong, hasPrecedence: hasPrecedence, presenting: token) {
            [self] pending in
            defer { isConfirmed = true }
            do {
                result = .success(try attempt(token, once, body, on: &pending))
                guard !isConfirmed, !pending.isRecordChanged else { return true }
                throw Unconfirmed()
            } catch {
                result = .failure(isConfirmed ? error : Unconfirmed())
                return false
            }
        } then: { refusal in
            done(refusal.map { .failure($0) } ?? result ?? .failure(SessionError.ended))
        }
    }

    /// Makes the next state.
    private func attempt<Value>(
        _ token: TokenDigest?, _ once: Once<Value>?, _ body: (inout PendingState) throws -> Value,
        on pending: inout PendingState
    ) throws -> Value {
        if let token, token != pending.token { throw Unconfirmed() }
        if let once { try pending.checkIsNew(once.id, in: self) }
        let value = try body(&pending)
        if !pending.definitions.clockedServices.isEmpty { environment.redateJourneys(on: &pending) }
        if let replay = once?.replay(value) { pending.replay = replay }
        if pending.isRecordChanged { try pending.checkSize(limit: environment.settings.maxSessionSize) }
        return value
    }

    /// Called with the result of a unit of work.
    package typealias Completion<Value> = @Sendable (Result<Value, any Error>) -> Void

    /// The same, waiting.
    nonisolated(nonsending) func transact<Value: Sendable>(
        isLong: Bool = false, hasPrecedence: Bool = false, presenting token: TokenDigest? = nil,
        once: Once<Value>? = nil, _ body: @escaping @Sendable (inout PendingState) throws -> Value
    ) async throws -> Value {
        try await withUnsafeThrowingContinuation { waiting in
            transact(isLong: isLong, hasPrecedence: hasPrecedence, presenting: token, once: once, body) {
                waiting.resume(with: $0)
            }
        }
    }

    /// Runs the unit of work that has the turn, and hands its commit to the store.
    func run(_ work: QueuedWork) {
        do {
            var pending = try pendingState(onHead: true)
            guard work.run(on: &pending) else { return submit(work, nil) }
            let commit = environment.commit(of: pending)
            submit(work, WorkResult(consume pending, commit))
        } catch {
            work.conclude(error)
        }
    }

    /// - Parameter result: what the unit has made; nil when it threw.
    private func submit(_ work: QueuedWork, _ result: WorkResult?) {
        work.result = result
        let usedAt = state.withLock { $0.submit(work) }
        guard let usedAt, var commit = result?.commit else { return publish() }
        commit.usedAt = usedAt
        environment.store.commit(commit) { work.session.publish(work, $0) }
    }

    /// A copy of the durable state, to read.
    ///
    /// - Parameter onHead: whether it is to be the state after the units in progress, to work on.
    func pendingState(onHead: Bool = false) throws(SessionError) -> PendingState {
        let now = environment.clock.now()
        return try state.withLock { state throws(SessionError) in
            guard !state.isEnded else { throw .ended }
            guard onHead, let head = state.pipeline?.head else {
                return state.pending(environment.definitions, now: now)
            }
            return PendingState(
                base: head.record, unwritten: head.unwritten, definitions: environment.definitions, now: now,
                lastUsedAt: state.lastUsedAt, memory: head.memory)
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
        countUse(by: work)
        if let result = work.result {
            announce(result.pending, result.commit, work.isFirstMemory, isWatched: work.isWatched)
        }
        work.conclude(nil)
    }

    /// Tells watchers what has become visible.
    @inline(__always)
    private func announce(
        _ pending: borrowing PendingState, _ commit: SessionCommit?, _ isFirstMemory: Bool, isWatched: Bool
    ) {
        if isFirstMemory { noteMemory(pending.base.id) }
        if commit != nil {
            // By parts: who binds the commit copies it.
            if let flows = commit?.newFlows, !flows.isEmpty { environment.knowFlows(flows, of: pending.definitions) }
            if let services = commit?.changedServices {
                environment.noteMoves(of: pending.base.id, services, pending.definitions)
            }
        }
        if !pending.taskChanges.isEmpty { environment.tasks.tell(pending.taskChanges) }
        for note in pending.notes { environment.tell(note) }
        for way in pending.ways { environment.transitions.count(way, at: pending.now) }
        if let commit, isWatched { tellWatchers(pending.sessionChanges(environment), commit.record) }
        environment.makeRoom(near: pending.base.id)
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
                let (needsPrecedence, newer) = state.withLock {
                    ($0.pipeline?.needsPrecedence ?? false, $0.pipeline?.newer)
                }
                do throws(SessionError) {
                    // It can do without.
                    if needsPrecedence { try? await environment.store.reserve(id) }
                    if !needsPrecedence, let newer, let stored = newer.read(), !stored.record.hasEnded {
                        take(stored, newer.generation)
                    } else {
                        try await reload()
                    }
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
            pipeline.newer = nil
            if refusal == nil { pipeline.waiting.prepend(&pipeline.retrying) }
            defer { pipeline.retrying = WorkList() }
            return pipeline.retrying
        }
        while let work = refused.popFirst() { work.conclude(refusal) }
    }
}
