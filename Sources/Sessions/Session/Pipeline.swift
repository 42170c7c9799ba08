/// The units of work of a session that wait for their turn or whose commits are in progress. It exists only while there
/// are any.
///
/// ```text
///   waiting ──turn──▶ runs on the head ──submitted──▶ under way ──durable, in order──▶ published
///      ▲                                                  │
///      └───────── another process was faster ─────────────┘
/// ```
///
/// A unit of work holds the turn only while its body runs and its commit is handed to the store. The next one begins
/// from the ``head``, which readers do not see, so that commits of one session join one group of the store. The result
/// of a unit that began from the head reveals that state, even if it is a refusal, so it waits in ``underWay`` like a
/// commit. When a commit fails, all units behind it fail with the same error. The head is dropped, and no unit begins
/// before the store has called back for all of them.
///
/// With a store that processes share each unit begins from the durable state, so one commit is under way: another
/// process may be faster than any of them.
///
/// `@unchecked Sendable`: the session's lock guards it.
final class Pipeline: @unchecked Sendable {
    /// The state after the last unit of ``underWay``; `nil` when that is the durable state.
    var head: Head?
    /// Units that have run, in the order of their revisions.
    var underWay = WorkList()
    var waiting = WorkList()
    /// Units that lost against another process. They run again before the units that wait.
    var retrying = WorkList()
    /// Whether one of them has lost so often that others have to wait.
    var needsPrecedence = false
    /// The session as the process that was faster has left it, if the store has said that, and when
    /// (``SessionEnvironment/generation``).
    var newer: (read: @Sendable () -> StoredSession?, generation: UInt8)?
    /// Why a commit in progress failed. No unit begins until the units behind it have failed as well.
    var failure: StoreError?
    /// Whether a thread is publishing units and calling back.
    var isPublishing = false

    /// A state that is not durable yet.
    struct Head {
        var record: SessionRecord
        var unwritten: [ServiceDocument]
        var memory: JourneyMemory?
    }

    var count: Int { underWay.count + waiting.count }
}

extension Session.State {
    /// The pipeline, created if there is none.
    var neededPipeline: Pipeline {
        mutating get {
            if let pipeline { return pipeline }
            let new = Pipeline()
            pipeline = new
            return new
        }
    }

    /// A copy of the durable state, to work on.
    func pending(_ definitions: SessionDefinitions, now: Int64) -> PendingState {
        PendingState(
            base: record, unwritten: unwritten, definitions: definitions, now: now, lastUsedAt: lastUsedAt,
            memory: memory)
    }

    /// Whether a unit of work has the turn, waits for it, or is being committed.
    var isBusy: Bool { isWriting || pipeline != nil }

    /// Whether the unit may begin at once.
    func isFree(for work: QueuedWork) -> Bool {
        guard !isWriting else { return false }
        guard let pipeline else { return true }
        return pipeline.waiting.isEmpty && pipeline.failure == nil && (!work.isAlone || pipeline.underWay.isEmpty)
    }

    /// Gives the turn to the next unit, if it can begin now.
    mutating func nextTurn(in session: Session) -> QueuedWork? {
        guard !isWriting, let pipeline else { return nil }
        if pipeline.failure != nil {
            guard pipeline.underWay.isEmpty else { return nil }
            if !pipeline.retrying.isEmpty {
                isWriting = true
                return session.reloading()
            }
            pipeline.failure = nil
            pipeline.head = nil
        }
        guard let first = pipeline.waiting.first else {
            if pipeline.underWay.isEmpty { self.pipeline = nil }
            return nil
        }
        guard !first.isAlone || pipeline.underWay.isEmpty else { return nil }
        isWriting = true
        return pipeline.waiting.popFirst()
    }
}

// After a unit of work has run.
extension Session.State {
    /// Appends the unit to those in progress and advances the head.
    ///
    /// - Returns: the time of the session's last use, for the commit; `nil` when there is nothing to store.
    mutating func submit(_ work: QueuedWork) -> Int64? {
        let pipeline = neededPipeline
        pipeline.underWay.append(work)
        guard pipeline.failure == nil, let result = work.result else {
            work.isFinished = true
            return nil
        }
        var head = pipeline.head.take() ?? Pipeline.Head(record: record, unwritten: unwritten, memory: memory)
        result.pending.apply(committed: result.record, to: &head.record, &head.unwritten)
        if let memory = result.pending.newMemory { head.memory = memory }
        pipeline.head = head
        work.isFinished = result.record == nil
        return work.isFinished ? nil : max(takeUse(), work.token == nil ? .min : result.pending.now)
    }

    /// Publishes the first unit in progress if the store has called back for it. It stays the first until its caller
    /// has been called.
    ///
    /// - Returns: the unit whose caller must be called, or else the unit that has the turn now.
    mutating func publishNext(in session: Session) -> (published: QueuedWork?, next: QueuedWork?) {
        guard let pipeline else { return (nil, nil) }
        while let work = pipeline.underWay.first, work.isFinished {
            pipeline.isPublishing = true
            guard let failure = pipeline.failure ?? work.failure else {
                if let result = work.result {
                    work.isFirstMemory = adopt(result.pending, result.record, session.environment)
                    work.isWatched = isWatched
                }
                return (work, nil)
            }
            pipeline.failure = failure
            work.failure = failure
            giveBackUse()
            let most = session.environment.settings.maxConflictRetries * (work.hasPrecedence ? 8 : 1)
            switch failure {
            case .overtaken(let newer) where work.retries < most:
                pipeline.newer = (newer, session.environment.generation)
            case .conflict where work.retries < most: pipeline.newer = nil
            default: return (work, nil)
            }
            work.retries += 1
            if work.hasReserved { pipeline.needsPrecedence = true }
            _ = pipeline.underWay.popFirst()
            pipeline.retrying.append(work)
        }
        pipeline.isPublishing = false
        if pipeline.underWay.isEmpty, pipeline.failure == nil { pipeline.head = nil }
        return (nil, nextTurn(in: session))
    }

    /// Makes the result of a unit of work part of the durable state.
    ///
    /// - Returns: whether it gave the session its first ``JourneyMemory``.
    @inline(__always)
    mutating func adopt(
        _ pending: borrowing PendingState, _ committed: SessionRecord?, _ environment: SessionEnvironment
    ) -> Bool {
        var isFirstMemory = false
        if !isEnded {
            if let new = pending.newMemory {
                isFirstMemory = memory == nil
                memory = new
            }
        }
        // All threads share the counters, so they are changed only if necessary.
        let countsStay = isEnded || pending.onlyRewrites(record, unwritten)
        if !countsStay { countLive(-1, pending.catalog) }
        let formerBytes = record.writtenBytes
        pending.apply(committed: committed, to: &record, &unwritten)
        if !countsStay { countLive(1, pending.catalog) }
        if !isEnded { environment.countBytes(record.writtenBytes - formerBytes) }
        return isFirstMemory
    }
}
