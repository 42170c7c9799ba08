import JSONDocument
import Navigation

/// What somebody says of a task: a result, a failure, or an operator's wish that it goes on.
extension Sessions {
    /// Takes the result of a task: a step of its journey like any other. A result that the flow cannot take is kept.
    ///
    /// - Returns: with a user in the report, what became of the sign-in.
    /// - Throws: while the lease lasts, why the task cannot have that result: `JourneyRefusal`, and for a sign-in
    ///   ``SessionError`` with pointers that begin with `/sign_in`. Then a better one may come. ``TaskError/over`` when
    ///   it is over, ``SessionError`` when nothing could be recorded.
    @discardableResult
    package func endTask(_ id: TaskID, by report: TaskReport, once: Once<TaskEnd>? = nil) async throws -> TaskEnd {
        guard report.isReported else { return try await endTaskHere(id, by: report, once: once) }
        return try await following(id) { try await endTaskHere($0, by: report, once: once) }
    }

    private func endTaskHere(_ id: TaskID, by report: TaskReport, once: Once<TaskEnd>?) async throws -> TaskEnd {
        if id.isNotice {
            guard try await update(id, .remove) != nil else { throw TaskError.over }
            return .taken
        }
        do {
            let end = try await ofTask(id) { try await record(report, of: id, in: $0, once: once) }
            await markHeld(id, end)
            return end
        } catch let error where error.isWrongResult {
            let now = environment.clock.now()
            guard let task = try await update(id, .keep(now: now)) else { throw TaskError.over }
            guard task.status(at: now) != .claimed, let end = try await hold(id, once: once) else { throw error }
            return end
        }
    }

    /// Takes the report, or keeps it with the reason: also when that is known only after the unit of work, as with a
    /// session that would be too large.
    private func record(
        _ report: TaskReport, of id: TaskID, in session: Session, once: Once<TaskEnd>?
    ) async throws -> TaskEnd {
        do {
            // To one that lives on for its work no token leads, so nobody is signed in.
            guard let signIn = report.signIn, session.isUsable(now: environment.clock.now()) else {
                return try await session.endTask(id, by: report, once: once)
            }
            let user = try UserClaims(signIn, at: "/sign_in")
            return try await self.signIn(user, at: "/sign_in", to: session) { signIn in
                try await session.endTask(id, by: report, signingIn: signIn, once: once)
            }
        } catch let refusal as SessionError where refusal.isOfReport {
            return try await session.keep(report, of: id, because: refusal, once: once)
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
            try await failTaskHere(id, attempt: attempt, reason: reason, retryAfter: retryAfter, isFinal: isFinal)
        }
    }

    private func failTaskHere(
        _ id: TaskID, attempt: Int?, reason: String, retryAfter: Int64?, isFinal: Bool
    ) async throws -> TaskEnd {
        let standing = try await standing(of: id)
        if isFinal {
            guard let task = try await update(id, .look) else { throw TaskError.over }
            guard task.isOn(attempt) else { throw TaskError.notClaimed }
            return try await giveUpTask(task, reason: reason, by: .admin)
        }
        if standing.isHeld { throw TaskError.held }
        let failure = TaskUpdate.fail(
            attempt: attempt, now: environment.clock.now(), retry: standing.retry, after: retryAfter)
        guard let task = try await update(id, failure) else { throw TaskError.over }
        guard task.isOn(attempt), task.attempt > 0 else { throw TaskError.notClaimed }
        if task.isKept || standing.notes?.result != nil { return try await hold(id) ?? .taken }
        if task.isExhausted { return try await giveUpTask(task, reason: reason) }
        // Only for operators: the failure counts in any case.
        if !id.isNotice { try? await ofTask(id) { try await $0.noteFailure(reason, of: id) } }
        environment.tasks.expect(task.name, at: task.due)
        return .taken
    }

    /// Ends a task at once, whatever attempts are left. One of which a result is kept is held, unless an operator ends
    /// it.
    @discardableResult
    package func giveUpTask(
        _ task: StoredTask, reason: String, by actor: JourneyActor = .backend
    ) async throws -> TaskEnd {
        if task.notice != nil {
            guard try await update(task.id, .remove) != nil else { throw TaskError.over }
            environment.tell(.undone(task.id, name: task.name, reason: reason))
            return .taken
        }
        let end: TaskEnd? = try await ofTask(task.id) { session in
            if try session.standing(of: task.id).isAwaited { return nil }
            return try await session.giveUpTask(task.id, reason: reason, isOfOperator: actor == .admin)
        }
        guard let end else {
            return try await endTask(
                task.id, by: .failure(reason, attempts: task.attempt, by: actor))
        }
        await markHeld(task.id, end)
        return end
    }

    /// An operator wants the task to go on: a kept result is tried again, for any other task the next attempt may
    /// begin.
    package func retryTask(_ id: TaskID, once: Once<TaskEnd?>? = nil) async throws -> TaskEnd {
        try await following(id) { try await retryTaskHere($0, once: once) }
    }

    private func retryTaskHere(_ id: TaskID, once: Once<TaskEnd?>?) async throws -> TaskEnd {
        let standing = try await standing(of: id)
        if let result = standing.notes?.result, result.signIn != nil {
            let once = once.map { once in Once<TaskEnd>(id: once.id) { once.replay($0) } }
            return try await endTask(id, by: TaskReport(result), once: once)
        }
        if !id.isNotice, let end = try await ofTask(id, { try await $0.retryTask(id, once: once) }) {
            await markHeld(id, end)
            return end
        }
        guard let task = try await update(id, .hasten(now: environment.clock.now())) else { throw TaskError.over }
        environment.tasks.expect(task.name, at: task.due)
        return .taken
    }
}

extension SessionError {
    /// Whether the same report is refused each time.
    fileprivate var isOfReport: Bool { !isTemporary && !isDamage && self != .ended }

    /// Whether somebody cannot be signed in, which a better report may mend.
    var isOfSignIn: Bool {
        switch self {
        case .invalid, .inputInvalid, .tooManySessionsOfUser: true
        default: false
        }
    }
}

extension Error {
    /// Whether a better result may come while the lease lasts.
    fileprivate var isWrongResult: Bool {
        (self as? JourneyRefusal)?.isWrongResult ?? (self as? SessionError)?.isOfSignIn ?? false
    }
}
