import JSONDocument
import Navigation

/// Tasks of journeys in a unit of work.
extension JourneyWork {
    /// Takes what somebody says of the end of a task. What the flow cannot take is kept, with the reason.
    ///
    /// - Parameter attach: attaches the user whom the report signs in. There is no sign-in without the step.
    /// - Returns: what the caller is told. A failure is to be committed, too: a result that the task cannot have is
    ///   kept until the lease ends, in case that no better one comes.
    /// - Throws: ``TaskError/over``, and what is no matter of the flow. Then nothing is kept.
    mutating func end(
        _ id: TaskID, by report: TaskReport, attaching attach: (inout JourneyWork) throws -> Void = { _ in }
    ) throws -> Result<TaskEnd, any Error> {
        guard kept[id.journey]?.journey.task?.number == id.number else {
            guard kept.place(of: id) != nil else { throw TaskError.over }
            guard report.signIn == nil else {
                throw SessionError.inputInvalid([
                    JSONViolation(
                        pointer: "/sign_in", detail: "No journey waits for the task, so it can sign nobody in.")
                ])
            }
            _ = try forget(id)
            return .success(.taken)
        }
        // What the store has not noted, since it failed after the commit, shows here.
        if !report.isReported, report.actor != .admin, let held = try holdKept(id) { return .success(held) }
        let start = pending
        try attach(&self)
        guard let entry = kept[id.journey] else { throw TaskError.over }
        do {
            (hasActed, actor) = (true, report.actor)
            endingTask = id.number
            var step = try engine.endTask(
                id.number, of: entry.journey, outcome: report.outcome, output: report.output,
                isReported: report.isReported, services: documents, now: pending.now)
            step.journey.keepChallenge(entry.journey.task?.challenge)
            try take(step, .task(outcome: report.outcome))
            return .success(.taken)
        } catch let error as JourneyRefusal where error.endsTasks {
            throw error
        } catch let error as SessionError where error.isTemporary {
            throw error
        } catch {
            let cause = documents.failure ?? error
            try begin(on: start)
            let isWrong = (cause as? JourneyRefusal)?.isWrongResult ?? false
            return try keep(report, of: id, because: cause, isWrong: isWrong && report.isReported)
        }
    }

    /// Keeps a result that could not be taken.
    ///
    /// - Parameter isWrong: whether a better one may come while the lease lasts.
    mutating func keep(
        _ report: TaskReport, of id: TaskID, because cause: any Error, isWrong: Bool
    ) throws -> Result<TaskEnd, any Error> {
        guard let standing = standing(of: id) else { throw TaskError.over }
        if let held = standing.notes?.result, held.isHeld {
            // The first one stays: a worker that repeats it is told the same, and an operator why another will not do.
            guard held.says(report) else { return .failure(cause) }
            return .success(.held(problem: held.problem))
        }
        let result = KeptResult(
            outcome: report.outcome, output: report.output, problem: settings.problem(cause),
            isHeld: !isWrong, isReported: report.isReported, signIn: report.signIn)
        try keep(result, of: id)
        return isWrong ? .failure(cause) : .success(.held(problem: result.problem))
    }

    /// The lease has ended, and no better result has come.
    ///
    /// - Returns: the problem; nil when no result is kept, or when it was held before.
    mutating func hold(_ id: TaskID) throws -> JSONDocument? {
        guard var result = standing(of: id)?.notes?.result, !result.isHeld else { return nil }
        result.isHeld = true
        try keep(result, of: id)
        return result.problem
    }

    /// Holds the result that is kept of a task, if one is. It counts more than a failure, which comes after it.
    mutating func holdKept(_ id: TaskID) throws -> TaskEnd? {
        guard let result = standing(of: id)?.notes?.result else { return nil }
        return .held(problem: try hold(id) ?? result.problem)
    }

    private mutating func keep(_ result: KeptResult, of id: TaskID) throws {
        if let entry = kept[id.journey], entry.journey.task?.number == id.number {
            noteHeld(entry.journey, note(of: entry) { $0.result = result })
        } else if let place = kept.place(of: id) {
            note(ofTaskAt: place) { $0.result = result }
            // No time ends it any more.
            kept.tasks[place].endsAt = nil
            if result.isHeld { noteHeld(id, kept.tasks[place].name, result) }
        }
        try keep(atMost: nil)
    }

    @discardableResult
    private mutating func note(of entry: KeptJourney, _ change: (inout TaskNotes) -> Void) -> Journey {
        var journey = entry.journey
        journey.noteOfTask(change)
        prepared = nil
        return kept.keep(journey).journey
    }

    private mutating func note(ofTaskAt place: Int, _ change: (inout TaskNotes) -> Void) {
        var notes = kept.tasks[place].notes ?? TaskNotes()
        change(&notes)
        kept.tasks[place].notes = notes
    }

    /// Tries the kept result again.
    ///
    /// - Returns: nil when there is none.
    mutating func retry(_ id: TaskID) throws -> Result<TaskEnd, any Error>? {
        guard let task = kept[id.journey]?.journey.task, task.number == id.number else {
            guard let place = kept.place(of: id) else { throw TaskError.over }
            return kept.tasks[place].notes?.result.map { .success(.held(problem: $0.problem)) }
        }
        guard let result = task.result else { return nil }
        return try end(id, by: TaskReport(result))
    }

    /// Notes why the last attempt failed, for operators.
    mutating func noteFailure(_ reason: String, of id: TaskID) throws {
        // A reason is a sentence; what is longer is a page that a proxy has sent.
        let reason = String(reason.prefix(1_000))
        if let entry = kept[id.journey], entry.journey.task?.number == id.number {
            note(of: entry) { $0.failure = reason }
        } else if let place = kept.place(of: id) {
            note(ofTaskAt: place) { $0.failure = reason }
        } else {
            return
        }
        try keep()
    }

    /// Ends a task for which no journey waits; nil when there is none of that id.
    mutating func forget(_ id: TaskID) throws -> KeptTask? {
        guard let place = kept.place(of: id) else { return nil }
        let task = kept.tasks.remove(at: place)
        pending.taskChanges.append(.ended(id))
        try keep()
        return task
    }

    /// Records the tasks of a step for which the journey does not wait.
    mutating func record(_ tasks: [SideTask], of journey: Journey) {
        var number = KeptTask.number(ofStep: journey.step)
        // Nothing is kept for ever, and what is not done is said.
        let longest = environment.settings.longestTask
        for task in tasks {
            let timeout = engine.policy(of: task.name, flow: task.flow, version: task.version).timeout
            let task = KeptTask(
                task, number: number, of: journey, begunAt: pending.now,
                endsAt: pending.now.later(by: timeout ?? longest), userID: pending.details.userID)
            number += 1
            kept.tasks.append(task)
            pending.taskChanges.append(
                .begun(environment.task(of: task, by: engine, in: pending.base.id, now: pending.now)))
        }
        documents.roomForTasks = max(0, SideTask.mostOfSession - kept.tasks.count)
    }

    /// Notes which tasks begin and end, for the store.
    ///
    /// - Parameters:
    ///   - former: that of the journey before.
    ///   - isKept: whether the journey is kept, so that it waits for its task.
    mutating func note(_ former: PendingTask?, of journey: Journey, isKept: Bool = false) {
        let (session, task) = (pending.base.id, isKept ? journey.task : nil)
        guard former?.number != task?.number else {
            if let former, former.isHeld != task?.isHeld { noteHeld(former, journey) }
            return
        }
        if let former {
            if former.isHeld, former.number != endingTask {
                // It was acknowledged, so operators have to find it whatever has become of the journey.
                kept.tasks.append(KeptTask(left: former, by: journey, userID: pending.details.userID))
            } else {
                pending.taskChanges.append(
                    .ended(TaskID(session: session, journey: journey.id, number: former.number)))
            }
        }
        if task != nil, let begun = environment.task(of: journey, by: engine, in: session, now: pending.now) {
            pending.taskChanges.append(.begun(begun))
        }
    }

    private mutating func noteHeld(_ former: Journey, _ journey: Journey) {
        if let task = former.task { noteHeld(task, journey) }
    }

    /// Notes for the log that a result is held from now on.
    private mutating func noteHeld(_ former: PendingTask, _ journey: Journey) {
        guard !former.isHeld, let task = journey.task, let result = task.result, result.isHeld else { return }
        noteHeld(TaskID(session: pending.base.id, journey: journey.id, number: task.number), task.name, result)
    }

    private mutating func noteHeld(_ id: TaskID, _ name: String, _ result: KeptResult) {
        pending.notes.append(.held(id, name: name, outcome: result.outcome, problem: result.problem))
    }
}

extension FlowEngine {
    /// How a task is done for which no journey waits.
    func policy(of task: String, flow: String, version: Int) -> SideTaskPolicy {
        catalog.flow(flow, version: version)?.sideTasks[task] ?? .usual
    }
}

extension KeptResult {
    fileprivate func says(_ report: TaskReport) -> Bool {
        outcome == report.outcome && output == report.output && signIn == report.signIn
    }
}

extension JourneyRefusal {
    /// Whether a task of the journey is over, or the journey has to be looked at first. Any other refusal leaves the
    /// task as it is.
    fileprivate var endsTasks: Bool {
        switch self {
        case .taskOver, .finished, .expired, .due: true
        default: false
        }
    }
}
