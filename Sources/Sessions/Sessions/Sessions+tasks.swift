import JSONDocument
import Navigation

/// Tasks of journeys, for workers: ``claimTasks(named:max:lease:wait:)`` hands them out, at least once
/// each, and ``endTask(_:outcome:output:)`` takes one result of each.
extension Sessions {
    /// Hands out tasks of a name, those that have waited longest first. Waits for one if there is none.
    ///
    /// - Parameters:
    ///   - lease: milliseconds; if no result has come by then, the attempt has failed.
    ///   - wait: milliseconds.
    package func claimTasks(
        named name: String, max limit: Int, lease: Int64, wait: Int64
    ) async throws -> [ClaimedTask] {
        let (clock, queue) = (environment.clock, environment.tasks)
        let deadline = clock.now() + wait
        while true {
            let mark = queue.mark(of: name)
            let now = clock.now()
            let end = now.later(by: lease)
            let claims = try await environment.ask { store throws(StoreError) in
                try await store.claimTasks(TaskClaim(name: name, limit: limit, now: now, end: end))
            }
            if !claims.tasks.isEmpty { queue.expect(name, at: end) }
            if let next = claims.nextDue { queue.expect(name, at: next) }
            var claimed: [ClaimedTask] = []
            var failure: (any Error)?
            for task in claims.tasks {
                do {
                    if let awaited = try await session(task.id.session)?.awaited(task) { claimed.append(awaited) }
                } catch let error as SessionError where error.isTemporary {
                    failure = error
                    await giveBack(task, at: now.later(by: Self.soon))
                } catch SessionError.damaged {
                    // No worker has seen it. It keeps its attempt until a backup is restored or its session ends.
                    await giveBack(task, at: now.later(by: Self.secondLook))
                } catch {}
            }
            if let failure, claimed.isEmpty { throw failure }
            if !claimed.isEmpty || clock.now() >= deadline || queue.isClosed { return claimed }
            // Tasks of sessions that have expired were handed out to nobody: there may be others behind them.
            if claims.tasks.isEmpty {
                let look = environment.isShared ? min(deadline, clock.now() + Self.soon) : deadline
                await queue.wait(for: name, since: mark, until: look)
            }
        }
    }

    private func giveBack(_ task: StoredTask, at time: Int64) async {
        guard (try? await update(task.id, .giveBack(attempt: task.attempt, at: time))) != nil else { return }
        environment.tasks.expect(task.name, at: time)
    }

    /// Takes the result of a task: a step of its journey like any other.
    ///
    /// - Throws: ``TaskError/over`` when it is over, `JourneyRefusal` when the flow does not allow it,
    ///   ``SessionError``.
    package func endTask(
        _ id: TaskID, outcome: String, output: JSONDocument = .null, once: Once<Void>? = nil
    ) async throws {
        do {
            try await ofTask(id) { try await $0.endTask(id, outcome: outcome, output: output, once: once) }
        } catch TaskError.over {
            // What was done is done, wherever the journey has moved to.
            guard let moved = try await place(ofMoved: id) else { throw TaskError.over }
            try await ofTask(moved) { try await $0.endTask(moved, outcome: outcome, output: output, once: once) }
        }
    }

    /// The attempt has failed: the task is tried again, or it ends.
    ///
    /// - Parameters:
    ///   - attempt: the attempt of the caller; nil for any.
    ///   - retryAfter: milliseconds, in place of what the flow says.
    /// - Throws: ``TaskError/notClaimed`` if a later attempt has begun.
    package func failTask(_ id: TaskID, attempt: Int?, reason: String, retryAfter: Int64? = nil) async throws {
        let retry = try await ofTask(id) { try $0.retry(of: id) }
        let failure = TaskUpdate.fail(
            attempt: attempt, now: environment.clock.now(), retry: retry, after: retryAfter)
        guard let task = try await update(id, failure) else { throw TaskError.over }
        guard task.isOn(attempt) else { throw TaskError.notClaimed }
        guard task.isExhausted else { return environment.tasks.expect(task.name, at: task.due) }
        try await giveUpTask(task, reason: reason)
    }

    /// Ends a task at once, whatever attempts are left.
    package func giveUpTask(_ task: StoredTask, reason: String) async throws {
        let output: JSONDocument = ["reason": JSONDocument(reason), "attempts": JSONDocument(task.attempt)]
        try await ofTask(task.id) {
            try await $0.endTask(task.id, outcome: TaskState.failed, output: output, isFailure: true)
        }
    }

    /// Extends the lease of a task.
    ///
    /// - Parameters:
    ///   - attempt: the attempt of the caller; nil for any.
    ///   - lease: milliseconds from now on; nil for as long as the task is not over.
    /// - Throws: ``TaskError/notClaimed``, also if a later attempt has begun.
    package func extendTask(_ id: TaskID, attempt: Int?, lease: Int64?) async throws -> StoredTask {
        _ = try await ofTask(id) { try $0.retry(of: id) }
        let end = lease.map { environment.clock.now().later(by: $0) } ?? .max
        guard let task = try await update(id, .extend(attempt: attempt, until: end)) else { throw TaskError.over }
        guard task.isClaimed, task.isOn(attempt) else { throw TaskError.notClaimed }
        environment.tasks.expect(task.name, at: task.readyAt)
        return task
    }

    /// A part of the tasks that are not over, in the order of ids.
    package func tasks(
        named name: String? = nil, _ status: TaskStatus? = nil, after id: TaskID? = nil, limit: Int
    ) async throws -> [StoredTask] {
        let query = TaskQuery(name: name, status: status, now: now, after: id, limit: limit)
        return try await environment.ask { store throws(StoreError) in try await store.tasks(query) }
    }

    /// In steady time.
    package var now: Int64 { environment.clock.now() }

    /// Converts steady time to wall-clock time.
    package func timestamp(_ steady: Int64) -> Timestamp { environment.timestamp(steady) }

    /// Callers that wait for tasks wait no longer.
    package func stopWaitingForTasks() { environment.tasks.close() }

    // MARK: - Time

    /// Looks at tasks whose time is over, or whose last lease has ended.
    ///
    /// - Returns: how many are not overdue any more.
    @discardableResult
    package func sweepTasks(limit: Int = 1_000) async -> Int {
        await finishMoves()
        let now = environment.clock.now()
        guard let overdue = try? await environment.store.overdueTasks(now: now, limit: limit) else { return 0 }
        var count = 0
        for task in overdue where await settle(task, now: now) { count += 1 }
        return count
    }

    private func settle(_ task: StoredTask, now: Int64) async -> Bool {
        // What cannot be done now must not keep others from being looked at.
        let later = now + Self.secondLook
        var update = TaskUpdate.move(due: max(task.due, later), endsAt: max(task.endsAt, later))
        do {
            if let session = try await session(task.id.session) {
                let (isAwaited, next) = try await session.settleTask(task.id)
                if isAwaited, task.isExhausted, task.due <= now {
                    try await giveUpTask(task, reason: Self.leaseEnded)
                    return true
                }
                // A journey that is stuck stays overdue.
                let end = next.map { $0 > now ? $0 : later } ?? .max
                update = isAwaited ? .move(due: task.due, endsAt: end) : .remove
            }
        } catch TaskError.over {
            update = .remove
        } catch {}
        do {
            _ = try await self.update(task.id, update)
            return true
        } catch {
            return false
        }
    }

    /// An expired session stays in a store for a while, and a journey whose flow is not loaded stays as it is. Reading
    /// may fail for a while.
    private static let secondLook: Int64 = 60_000
    private static let soon: Int64 = 1_000
    private static let leaseEnded = "The lease of the last attempt ended without a result."

    // MARK: - Helpers

    private func update(_ id: TaskID, _ update: TaskUpdate) async throws -> StoredTask? {
        try await environment.ask { store throws(StoreError) in try await store.updateTask(id, update) }
    }

    /// Does something with the session of a task. Whatever is gone by now means that the task is over.
    private func ofTask<Done: Sendable>(
        _ id: TaskID, _ body: (Session) async throws -> Done
    ) async throws -> Done {
        guard let session = try await session(id.session) else { throw TaskError.over }
        do {
            return try await body(session)
        } catch SessionError.ended {
            throw TaskError.over
        } catch let refusal as JourneyRefusal {
            switch refusal {
            case .taskOver, .finished, .expired: throw TaskError.over
            default: throw refusal
            }
        }
    }

    /// Derives the tasks that a damaged store has lost from the journeys that wait for them. Attempts are counted from
    /// the first again.
    package func restoreTasks() async {
        guard let store = environment.store as? any FileStore, store.hasLostTasks else { return }
        do {
            var (next, isComplete) = (SessionID?.none, true)
            repeat {
                let page = try await store.page(after: next, limit: Self.restoredPage)
                next = page.next
                let lost = page.sessions.compactMap { session -> RestoredTasks? in
                    let record = session.record
                    let tasks = environment.tasks(of: record)
                    if tasks.isEmpty { return nil }
                    return RestoredTasks(session: record.id, revision: record.revision, tasks: tasks)
                }
                let areRestored = try await store.restoreTasks(lost, areAll: next == nil && isComplete)
                isComplete = isComplete && areRestored
                environment.tasks.tell(lost.flatMap(\.tasks).map { .begun($0) })
                await Task.yield()
            } while next != nil && !Task.isCancelled
        } catch {
            // It is tried again with the next sweep.
        }
    }

    private static let restoredPage = 200
}
