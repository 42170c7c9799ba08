import JSONDocument

// A task's frame is the top frame from when the task begins until it ends or the journey leaves it, by whatever way. So
// a journey waits for one task at most, and going back never finds the frame.
extension FlowEngine {
    /// The definition of the task that a journey waits for; nil when it waits for none.
    public func taskState(of journey: Journey) -> TaskState? { journey.task == nil ? nil : topTask(of: journey) }

    /// Whether the top frame is that of a task.
    func isOnTask(_ journey: Journey) -> Bool { topTask(of: journey) != nil }

    private func topTask(of journey: Journey) -> TaskState? {
        guard let top = journey.frames.last, let place = journey.coordinators.place(of: top.coordinator),
            let flow = catalog.flow(of: journey.coordinators, at: place), let state = flow.place(of: top)
        else { return nil }
        return flow.states[state].task
    }

    /// Ends the task that a journey waits for, with the result of the work: a step like any other, but that no screen
    /// is closed to it. Where the `requires` of the next screen do not hold, the standing rules lead on.
    ///
    /// - Parameters:
    ///   - number: of the task.
    ///   - outcome: one that the task declares, or for which the flow has a transition. Migrations rename that of a
    ///     worker that has the task from an older version.
    ///   - output: what the transition finds at `/output`.
    ///   - isReported: whether a back end says so; else the outcome is one that the server gives.
    /// - Throws: ``JourneyRefusal/taskOver`` when the journey does not wait for that task,
    ///   ``JourneyRefusal/unknownOutcome(_:known:)`` and ``JourneyRefusal/outputInvalid(outcome:_:)`` for a result that
    ///   the task cannot have, and what any step throws: then the work was done all the same.
    public func endTask(
        _ number: UInt64, of journey: Journey, outcome: String, output: JSONDocument = .null, isReported: Bool = true,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        guard journey.task?.number == number else { throw .taskOver }
        var renewal = renewal(of: journey)
        if case .restart = renewal {
            // Starting over would lose what has happened. The next event does that.
            guard isLoaded(journey) else { throw .orphaned(flow: journey.flow, version: journey.version) }
            renewal = .none
        }
        var run = StepRun(self, journey, services, now: now)
        if try !run.open(renewal) {
            let outcome = isReported ? try run.renamed(outcome) : outcome
            try run.endTask(outcome: outcome, output: output, isReported: isReported)
        }
        return try run.finish()
    }
}

extension StepRun {
    /// Begins a task in a frame that a verb puts on the stack.
    mutating func begin(
        _ task: TaskState, on frame: Frame, by verb: NavigationVerb, of coordinator: Int
    ) throws(JourneyRefusal) {
        var input = JSONDocument.emptyObject
        if let template = task.input { input = try scope(of: coordinator).value(of: template) }
        try input.checkNesting(at: "/input")
        try place(frame, by: verb)
        journey.task = PendingTask(number: 0, name: task.task, input: input)
    }

    /// Takes the transition for the end of the task on top.
    mutating func endTask(
        outcome: String, output: JSONDocument, isReported: Bool = false
    ) throws(JourneyRefusal) {
        // The journey may have moved to a version in which the state is something else.
        guard let top = journey.frames.last, let task = engine.taskState(of: journey) else { throw .taskOver }
        if isReported { try task.check(outcome, output) }
        isFact = true
        guard let transitions = task.transitions(after: outcome) else {
            throw .unknownOutcome(outcome, known: task.outcomes)
        }
        try output.checkNesting(at: "/output")
        self.output = output
        guard let transition = try choose(transitions, of: top.coordinator) else {
            let scope = try scope(of: top.coordinator)
            throw .guardNotMet(transitions.flatMap { scope.reasons(against: $0) })
        }
        guard transition.moves else {
            // Back to where the task was started.
            try leaveScreen()
            try perform(transition, of: top.coordinator)
            uncover(upTo: journey.frames.count - 2)
            return try settle(isDirected: false)
        }
        try take(transition, of: top.coordinator)
    }

    /// What an outcome is called in the version that the journey has moved to since the task began.
    mutating func renamed(_ outcome: String) throws(JourneyRefusal) -> String {
        guard let former = journey.task?.notes?.formerVersion, let top = journey.frames.last else { return outcome }
        let flow = try flow(of: top.coordinator)
        let hops = engine.hops(from: former, to: flow, among: engine.catalog.versions(of: flow.id)) ?? []
        return hops.reduce(outcome) { $1.migration.outcome(for: $0) }
    }

    /// A move of the stack that leaves the frame of a task, if that is on top: what would be put on it takes its place.
    mutating func leavingTask(_ move: StackMove<Int>) -> StackMove<Int> {
        guard journey.task != nil, let top = journey.frames.top, move.landing == top else { return move }
        let below = journey.frames.below(top)
        guard let presentation = move.presentation else { return .uncover(below) }
        return .put(on: below, as: presentation == .push ? journey.frames[top].presentation : presentation)
    }

    /// Numbers a task that this step began. Drops one whose state is something else in the version that the journey has
    /// moved to.
    mutating func numberTask() {
        if journey.task?.number == 0 {
            journey.task = journey.task?.numbered(journey.step)
        } else if engine.taskState(of: journey) == nil {
            journey.task = nil
        }
    }
}
