import JSONDocument
import Navigation

/// What somebody says of a task: a result, a failure, or an operator's wish that it goes on.
extension Sessions {
    /// Takes the result of a task: a step of its journey like any other. A result that the flow cannot take is kept.
    ///
    /// - Returns: with a user in the report, what became of the sign-in.
    /// - Throws: `JourneyRefusal` for a result that the task cannot have, while the lease lasts; then a better one may
    ///   come. ``TaskError/over`` when it is over, ``SessionError`` when nothing could be recorded, also that of
    ///   ``attachUser(_:claims:to:)`` with pointers that begin with `/sign_in`.
    @discardableResult
    package func endTask(_ id: TaskID, by report: TaskReport, once: Once<TaskEnd>? = nil) async throws -> TaskEnd {
        guard report.isReported else { return try await endTaskHere(id, by: report, once: once) }
        return try await following(id) { try await self.endTaskHere($0, by: report, once: once) }
    }

    private func endTaskHere(_ id: TaskID, by report: TaskReport, once: Once<TaskEnd>?) async throws -> TaskEnd {
        do {
            let end = try await ofTask(id) { session in
                // To one that lives on for its work no token leads, so nobody is signed in.
                guard let user = report.user, session.isUsable(now: environment.clock.now()) else {
                    return try await session.endTask(id, by: report, once: once)
                }
                return try await signIn(user.userID, claims: user.claims, at: "/sign_in", to: session) { signIn in
                    try await session.endTask(id, by: report, signingIn: signIn, once: once)
                }
            }
            await markHeld(id, end)
            return end
        } catch let refusal as JourneyRefusal where refusal.isWrongResult {
            let now = environment.clock.now()
            guard let task = try await update(id, .keep(now: now)) else { throw TaskError.over }
            guard task.status(at: now) != .claimed, let end = try await hold(id, once: once) else { throw refusal }
            return end
        }
    }

    /// The same for a reported outcome.
    @discardableResult
    package func endTask(
        _ id: TaskID, outcome: String, output: JSONDocument = .null
    ) async throws -> TaskEnd {
        try await endTask(id, by: TaskReport(outcome: outcome, output: output))
    }

    /// No better result can come.
    ///
    /// - Returns: nil when no result is kept, or when it was held before.
    func hold(_ id: TaskID, once: Once<TaskEnd>? = nil) async throws -> TaskEnd? {
        let end = try await ofTask(id) { try await $0.holdTask(id, once: once) }
        await markHeld(id, end)
        return end
    }

    /// What the store cannot note now shows when the task is handed out again.
    private func markHeld(_ id: TaskID, _ end: TaskEnd?) async {
        if case .held? = end { _ = try? await update(id, .hold) }
    }

    /// The attempt has failed: the task is tried again, or it ends. One of which a result is kept is held then.
    ///
    /// - Parameters:
    ///   - attempt: the attempt of the caller; nil for any.
    ///   - retryAfter: milliseconds, in place of what the flow says.
    ///   - isFinal: whether the task ends at once, whatever attempts are left, also if it is held.
    /// - Throws: ``TaskError/notClaimed`` if a later attempt has begun, or none; ``TaskError/held``.
    @discardableResult
    package func failTask(
        _ id: TaskID, attempt: Int?, reason: String, retryAfter: Int64? = nil, isFinal: Bool = false
    ) async throws -> TaskEnd {
        try await following(id) { id in
            try await self.failTaskHere(
                id, attempt: attempt, reason: reason, retryAfter: retryAfter, isFinal: isFinal)
        }
    }

    private func failTaskHere(
        _ id: TaskID, attempt: Int?, reason: String, retryAfter: Int64?, isFinal: Bool
    ) async throws -> TaskEnd {
        let standing = try await ofTask(id) { try $0.standing(of: id) }
        if isFinal {
            guard let task = try await update(id, .look) else { throw TaskError.over }
            guard task.isOn(attempt) else { throw TaskError.notClaimed }
            return try await giveUpTask(task, reason: reason)
        }
        if standing.isHeld { throw TaskError.held }
        let failure = TaskUpdate.fail(
            attempt: attempt, now: environment.clock.now(), retry: standing.retry, after: retryAfter)
        guard let task = try await update(id, failure) else { throw TaskError.over }
        guard task.isOn(attempt), task.attempt > 0 else { throw TaskError.notClaimed }
        if task.isKept { return try await hold(id) ?? .taken }
        if task.isExhausted { return try await giveUpTask(task, reason: reason) }
        // Only for operators: the failure counts in any case.
        try? await ofTask(id) { try await $0.noteFailure(reason, of: id) }
        environment.tasks.expect(task.name, at: task.due)
        return .taken
    }

    /// Ends a task at once, whatever attempts are left.
    @discardableResult
    package func giveUpTask(_ task: StoredTask, reason: String) async throws -> TaskEnd {
        let isAwaited = try await ofTask(task.id) { session in
            if try session.standing(of: task.id).isAwaited { return true }
            try await session.giveUpTask(task.id, reason: reason)
            return false
        }
        guard isAwaited else { return .taken }
        return try await endTask(task.id, by: .failure(reason, attempts: task.attempt))
    }

    /// An operator wants the task to go on: a kept result is tried again, for any other task the next attempt may
    /// begin.
    package func retryTask(_ id: TaskID, once: Once<TaskEnd?>? = nil) async throws -> TaskEnd {
        let standing = try await ofTask(id) { try $0.standing(of: id) }
        if let result = standing.notes?.result, result.user != nil {
            let once = once.map { once in Once<TaskEnd>(id: once.id) { once.replay($0) } }
            return try await endTask(id, by: TaskReport(result), once: once)
        }
        if let end = try await ofTask(id, { try await $0.retryTask(id, once: once) }) {
            await markHeld(id, end)
            return end
        }
        guard let task = try await update(id, .hasten(now: environment.clock.now())) else { throw TaskError.over }
        environment.tasks.expect(task.name, at: task.due)
        return .taken
    }
}
