import JSONDocument
import Navigation

extension Session {
    /// A task that is to be done, as it is committed; nil when it is not, or when a result of it is kept.
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
        let (kept, userID) = (try JourneyWork(on: pending, environment).kept, pending.details.userID)
        if let journey = kept[task.id.journey]?.journey, let work = journey.task, work.number == task.id.number {
            guard work.result == nil else { return nil }
            return ClaimedTask(
                task: task, input: work.input, userID: userID, place: (journey.flow, journey.version, journey.step))
        }
        return kept.place(of: task.id).map { kept.tasks[$0] }.flatMap { work in
            guard work.notes?.result == nil else { return nil }
            return ClaimedTask(
                task: task, input: work.input, userID: work.userID, place: (work.flow, work.version, work.step))
        }
    }

    /// What the session knows of a task.
    ///
    /// - Throws: ``TaskError/over``.
    func standing(of task: TaskID) throws -> TaskStanding {
        let work = try JourneyWork(on: try pendingState(), environment)
        guard let standing = work.standing(of: task) else { throw TaskError.over }
        return standing
    }

    /// Ends a task: a step of its journey, or if its flow cannot take that, a result that is kept.
    ///
    /// - Parameter signIn: of the user whom the report signs in.
    /// - Throws: also for a result that the task cannot have: it is kept until the lease ends.
    nonisolated(nonsending) func endTask(
        _ id: TaskID, by report: TaskReport, signingIn signIn: SignIn? = nil, once: Once<TaskEnd>? = nil
    ) async throws -> TaskEnd {
        try await ofTask(id, once: once) { [self] work in
            guard let signIn else { return try work.end(id, by: report) }
            let end = try work.end(id, by: report) { work in
                try attach(signIn, endingTask: id, canHandOver: report.canHandOver, in: &work)
            }
            guard case .success(.taken) = end else { return end }
            return .success(.signedIn(signedIn(signIn, after: work.pending)))
        }
    }

    /// Keeps a result that could not be taken.
    ///
    /// - Throws: `cause` when a better one may come.
    nonisolated(nonsending) func keep(
        _ report: TaskReport, of id: TaskID, because cause: SessionError, once: Once<TaskEnd>? = nil
    ) async throws -> TaskEnd {
        try await ofTask(id, once: once) { work in
            try work.keep(report, of: id, because: cause, isWrong: cause.isOfSignIn)
        }
    }

    /// Tries a kept result again; nil when none is kept.
    nonisolated(nonsending) func retryTask(_ id: TaskID, once: Once<TaskEnd?>? = nil) async throws -> TaskEnd? {
        try await ofTask(id, once: once) { work in try work.retry(id)?.map { Optional($0) } ?? .success(nil) }
    }

    /// The lease has ended, and no better result has come.
    ///
    /// - Returns: nil when no result is kept, or when it was held before.
    nonisolated(nonsending) func holdTask(_ id: TaskID, once: Once<TaskEnd>? = nil) async throws -> TaskEnd? {
        let optional = once.map { once in Once<TaskEnd?>(id: once.id) { $0.flatMap(once.replay) } }
        return try await ofTask(id, once: optional) { work in
            .success(try work.hold(id).map { .held(problem: $0) })
        }
    }

    /// Notes why an attempt has failed, for operators.
    nonisolated(nonsending) func noteFailure(_ reason: String, of id: TaskID) async throws {
        try await drive(id.journey, begins: false) { work in try work.noteFailure(reason, of: id) }
    }

    /// A task for which no journey waits is not done any more.
    ///
    /// - Parameter isOfOperator: whether it ends although a result of it is kept.
    nonisolated(nonsending) func giveUpTask(
        _ id: TaskID, reason: String, isOfOperator: Bool = false
    ) async throws -> TaskEnd {
        try await drive(id.journey, begins: false) { work in
            if !isOfOperator, let held = try work.holdKept(id) { return held }
            guard let task = try work.forget(id) else { throw TaskError.over }
            work.pending.notes.append(.undone(id, name: task.name, reason: reason))
            return .taken
        }
    }

    /// One unit of work on a task. What fails is committed, too.
    private nonisolated(nonsending) func ofTask<Done: Sendable>(
        _ id: TaskID, once: Once<Done>?,
        _ body: @escaping @Sendable (inout JourneyWork) throws -> Result<Done, any Error>
    ) async throws -> Done {
        try await transact(once: once?.ofSuccess()) { [self] pending in
            try work(on: id.journey, begins: false, &pending, body).flatMap(\.self)
        }.get()
    }
}

/// What a session knows of a task that is not over.
struct TaskStanding: Sendable {
    /// Nil for a notice.
    let name: String?
    let input: JSONDocument
    let retry: TaskRetry
    let notes: TaskNotes?
    /// Whether a journey waits for it.
    let isAwaited: Bool
    let userID: String?

    var isHeld: Bool { notes?.result?.isHeld ?? false }

    /// No session has to be asked.
    static let ofNotice = TaskStanding(
        name: nil, input: .null, retry: SessionNotice.retry, notes: nil, isAwaited: false, userID: nil)
}

extension JourneyWork {
    func standing(of id: TaskID) -> TaskStanding? {
        if let journey = kept[id.journey]?.journey, let task = journey.task, task.number == id.number {
            return TaskStanding(
                name: task.name, input: task.input, retry: engine.taskState(of: journey)?.retry ?? .never,
                notes: task.notes,
                isAwaited: true, userID: pending.details.userID)
        }
        return kept.place(of: id).map { kept.tasks[$0] }.map { task in
            TaskStanding(
                name: task.name, input: task.input,
                retry: engine.policy(of: task.name, flow: task.flow, version: task.version).retry,
                notes: task.notes, isAwaited: false, userID: task.userID)
        }
    }
}

extension SessionEnvironment {
    /// The task that a journey waits for, as a store keeps it before anybody has it; nil when it waits for none.
    func task(
        of journey: Journey, by engine: FlowEngine, in session: SessionID, now: Int64
    ) -> StoredTask? {
        guard let task = journey.task else { return nil }
        return StoredTask(
            id: TaskID(session: session, journey: journey.id, number: task.number), name: task.name,
            attempts: engine.taskState(of: journey)?.retry.attempts ?? 1, createdAt: now, due: now,
            isClaimed: task.result?.isHeld == false, isKept: task.result != nil)
    }

    /// The same for a task for which no journey waits.
    func task(of task: KeptTask, by engine: FlowEngine, in session: SessionID, now: Int64) -> StoredTask {
        let policy = engine.policy(of: task.name, flow: task.flow, version: task.version)
        return StoredTask(
            id: TaskID(session: session, journey: task.journey, number: task.number), name: task.name,
            attempts: policy.retry.attempts, createdAt: now, due: now,
            isClaimed: task.notes?.result?.isHeld == false, isKept: task.notes?.result != nil, userID: task.userID)
    }

    /// The tasks of a record. Attempts are counted from the first again.
    func tasks(of record: SessionRecord) -> [StoredTask] {
        let (now, engine) = (clock.now(), definitions.journeys.engine)
        guard let kept = journeys(of: record) else { return [] }
        return kept.journeys.compactMap { task(of: $0, by: engine, in: record.id, now: now) }
            + kept.tasks.map { task(of: $0, by: engine, in: record.id, now: now) }
    }
}
