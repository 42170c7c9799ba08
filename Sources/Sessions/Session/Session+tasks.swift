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
    /// - Parameter isFailure: whether its last attempt has failed. Then a flow that refuses the step has its journey
    ///   expire.
    nonisolated(nonsending) func endTask(
        _ id: TaskID, outcome: String, output: JSONDocument, isFailure: Bool = false, once: Once<Void>? = nil
    ) async throws {
        try await drive(id.journey, begins: false, once: once) { work in
            guard let entry = work.kept[id.journey] else { throw TaskError.over }
            _ = try work.endTask(id.number, of: entry, outcome: outcome, output: output, isFailure: isFailure)
        }
    }
}

extension SessionEnvironment {
    /// The task that a journey waits for, as a store keeps it before anybody has it; nil when it waits for none.
    func task(of journey: Journey, in session: SessionID, now: Int64) -> StoredTask? {
        guard let task = journey.task else { return nil }
        return StoredTask(
            id: TaskID(session: session, journey: journey.id, number: task.number), name: task.name,
            attempts: journeys.engine.taskState(of: journey)?.retry.attempts ?? 1, createdAt: now, due: now)
    }

    /// The tasks that the journeys of a record wait for. Attempts are counted from the first again.
    func tasks(of record: SessionRecord) -> [StoredTask] {
        let now = clock.now()
        return journeys(of: record)?.journeys.compactMap { task(of: $0, in: record.id, now: now) } ?? []
    }
}
