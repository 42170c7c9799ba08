import JSONDocument
import Navigation

extension Session {
    /// A task that a journey of the session waits for, as it is committed; nil when none does.
    ///
    /// - Throws: ``SessionError`` when that cannot be read.
    nonisolated(nonsending) func awaited(_ task: StoredTask) async throws -> ClaimedTask? {
        do {
            if let found = try awaited(task, in: try pendingState()) { return found }
            // A store may hand out a task before the commit that began it is shown here: a unit of work waits for that.
            return try await transact { [self] pending in try awaited(task, in: pending) }
        } catch SessionError.ended {
            return nil
        }
    }

    private func awaited(_ task: StoredTask, in pending: PendingState) throws -> ClaimedTask? {
        guard let journey = try journey(awaiting: task.id, in: pending), let work = journey.task else { return nil }
        return ClaimedTask(
            task: task, input: work.input, userID: pending.details.userID, flow: journey.flow,
            version: journey.version, step: journey.step)
    }

    /// How the flow wants a task to be tried again.
    ///
    /// - Throws: ``TaskError/over``.
    func retry(of task: TaskID) throws -> TaskRetry {
        guard let journey = try journey(awaiting: task, in: try pendingState()) else { throw TaskError.over }
        return environment.journeys.engine.taskState(of: journey)?.retry ?? .never
    }

    private func journey(awaiting task: TaskID, in pending: PendingState) throws -> Journey? {
        let journey = try JourneyWork(on: pending, environment).kept[task.journey]?.journey
        return journey?.task?.number == task.number ? journey : nil
    }

    /// Ends a task: a step of its journey.
    ///
    /// - Parameters:
    ///   - isFailure: whether its last attempt has failed. Then a flow that refuses the step has its journey expire.
    ///   - signIn: the user to attach before the step, in the same commit: there is no sign-in without the step.
    @discardableResult
    nonisolated(nonsending) func endTask(
        _ id: TaskID, outcome: String, output: JSONDocument, isFailure: Bool = false,
        signingIn signIn: TaskSignIn? = nil, once: Once<SignedIn?>? = nil
    ) async throws -> SignedIn? {
        try await drive(id.journey, begins: false, once: once) { [self] work in
            try signIn.map { try attach($0, endingTask: id, in: &work) }
            guard let entry = work.kept[id.journey] else { throw TaskError.over }
            _ = try work.endTask(id.number, of: entry, outcome: outcome, output: output, isFailure: isFailure)
            return signIn.map { signedIn($0, after: work.pending) }
        }
    }

    /// Does what time has done to the journey of a task.
    ///
    /// - Returns: when time does something next, if the journey still waits for the task; nil: never.
    nonisolated(nonsending) func settleTask(_ id: TaskID) async throws -> (isAwaited: Bool, next: Int64?) {
        try await drive(id.journey, begins: false) { work in
            let journey = work.kept[id.journey]?.journey
            return (journey?.task?.number == id.number, journey?.dueAt)
        }
    }
}

extension SessionEnvironment {
    /// The task that a journey waits for, as a store keeps it before anybody has it; nil when it waits for none.
    func task(of journey: Journey, in session: SessionID, now: Int64) -> StoredTask? {
        guard let task = journey.task else { return nil }
        return StoredTask(
            id: TaskID(session: session, journey: journey.id, number: task.number), name: task.name,
            attempts: journeys.engine.taskState(of: journey)?.retry.attempts ?? 1, createdAt: now,
            endsAt: journey.dueAt ?? .max, due: now)
    }

    /// The tasks that the journeys of a record wait for. Attempts are counted from the first again.
    func tasks(of record: SessionRecord) -> [StoredTask] {
        guard let coordinator = try? coordinator, let document = record.document(of: coordinator.index),
            let kept = try? KeptJourneys(reading: document.bytes)
        else { return [] }
        let now = clock.now()
        return kept.journeys.compactMap { task(of: $0, in: record.id, now: now) }
    }
}
