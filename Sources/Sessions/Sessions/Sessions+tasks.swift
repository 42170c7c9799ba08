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
                if let notice = environment.claimed(notice: task) {
                    claimed.append(notice)
                    continue
                }
                do {
                    if let session = try await session(task.id.session) {
                        if let awaited = try await session.awaited(task) {
                            claimed.append(awaited)
                        } else if let standing = try? session.standing(of: task.id), standing.notes?.result != nil {
                            // The process that kept the result ended before it told the store.
                            _ = try? await update(task.id, standing.isHeld ? .hold : .keep(now: now))
                        }
                    }
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

    /// Extends the lease of a task.
    ///
    /// - Parameters:
    ///   - attempt: the attempt of the caller; nil for any.
    ///   - lease: milliseconds from now on; nil for as long as the task is not over.
    /// - Throws: ``TaskError/notClaimed``, also if a later attempt has begun.
    package func extendTask(_ id: TaskID, attempt: Int?, lease: Int64?) async throws -> StoredTask {
        let end = lease.map { environment.clock.now().later(by: $0) } ?? .max
        let task = try await following(id) { id in
            _ = try await standing(of: id)
            guard let task = try await update(id, .extend(attempt: attempt, until: end)) else { throw TaskError.over }
            return task
        }
        guard task.isClaimed, task.isOn(attempt) else { throw TaskError.notClaimed }
        environment.tasks.expect(task.name, at: task.readyAt)
        return task
    }

    /// A part of the tasks that are not over, in the order of ids.
    package func tasks(
        named name: String? = nil, _ status: TaskStatus? = nil, after id: TaskID? = nil, limit: Int
    ) async throws -> [StoredTask] {
        var query = TaskQuery(now: now, limit: limit)
        (query.name, query.status, query.after) = (name, status, id)
        return try await tasks(query)
    }

    /// The same for any query.
    package func tasks(_ query: TaskQuery) async throws -> [StoredTask] {
        try await environment.ask { store throws(StoreError) in try await store.tasks(query) }
    }

    /// The same for a user: those that name the user, also in sessions that are not the user's any more, and all others
    /// of the user's sessions.
    package func tasks(_ query: TaskQuery, ofUser userID: String) async throws -> [StoredTask] {
        var part = query
        part.naming = .user(userID)
        var tasks = try await self.tasks(part)
        var ids = try await stored(ofUser: userID).map(\.record.id).sorted()
        if let session = query.session { ids.removeAll { $0 != session } }
        if let after = query.after { ids.removeAll { $0 < after.session } }
        part.naming = .nobody
        var count = 0
        for id in ids where count < query.limit {
            part.session = id
            let found = try await self.tasks(part)
            tasks += found
            count += found.count
        }
        return Array(tasks.sorted { $0.id < $1.id }.prefix(query.limit))
    }

    /// What is known of a task besides: its notes, and the user of its session; nil when it is over.
    package func details(of task: StoredTask) async throws -> TaskDetails? {
        if let notice = environment.claimed(notice: task) {
            return TaskDetails(input: notice.input, notes: nil, isAwaited: false, userID: notice.userID)
        }
        guard let session = try await session(task.id.session) else { return nil }
        return (try? session.standing(of: task.id)).map(TaskDetails.init)
    }

    /// In steady time.
    package var now: Int64 { environment.clock.now() }

    /// Converts steady time to wall-clock time.
    package func timestamp(_ steady: Int64) -> Timestamp { environment.timestamp(steady) }

    /// Callers that wait for tasks wait no longer.
    package func stopWaitingForTasks() { environment.tasks.close() }

    // MARK: - Time

    /// Looks at tasks whose last lease has ended without a result.
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
        var update = TaskUpdate.remove
        do {
            if task.isKept {
                if try await hold(task.id) == nil { _ = try await self.update(task.id, .hold) }
            } else {
                try await giveUpTask(task, reason: task.notice == nil ? Self.leaseEnded : Session.timeOver)
            }
            return true
        } catch TaskError.over {
        } catch {
            // What cannot be done now must not keep others from being looked at.
            update = .putOff(to: now + Self.secondLook)
        }
        do {
            _ = try await self.update(task.id, update)
            return true
        } catch {
            return false
        }
    }

    /// A journey whose flow is not loaded stays as it is, and reading may fail for a while.
    static let secondLook: Int64 = 60_000
    static let soon: Int64 = 1_000
    private static let leaseEnded = "The lease of the last attempt ended without a result."

    // MARK: - Helpers

    func update(_ id: TaskID, _ update: TaskUpdate) async throws -> StoredTask? {
        try await environment.ask { store throws(StoreError) in try await store.updateTask(id, update) }
    }

    /// What is known of a task.
    ///
    /// - Throws: ``TaskError/over``.
    func standing(of id: TaskID) async throws -> TaskStanding {
        id.isNotice ? .ofNotice : try await ofTask(id) { try $0.standing(of: id) }
    }

    /// The name of a task that is not over, for the log.
    package func name(of id: TaskID) async -> String? {
        id.isNotice ? settings.noticeTask : try? await standing(of: id).name
    }

    /// Does something with the session of a task. Whatever is gone by now means that the task is over.
    func ofTask<Done: Sendable>(
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

    /// Derives the tasks and times that a store has lost by damage, or an older program has not written, from the
    /// journeys. Attempts are counted from the first again.
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
                    let times = environment.times(of: session)
                    if tasks.isEmpty, times == .none { return nil }
                    return RestoredTasks(session: record.id, revision: record.revision, tasks: tasks, times: times)
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
