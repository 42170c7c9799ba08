/// Work of somebody outside.
extension ModelJourney {
    struct Task {
        /// What it was told.
        var flag: Bool
        /// Names whoever sent the event that led to it.
        var challenge: String?
        /// Whether the journey has come from another session since it began.
        var hasMoved = false
        /// The result that could not be taken.
        var result: Result?
    }

    enum Result {
        /// A better one may come, while a time ends the wait.
        case kept
        /// Nothing ends the task but an operator.
        case held
    }

    /// The frame of a task is always on top.
    var task: Task? { frames.last?.task }
    var isBusy: Bool { task != nil }
    var isHeld: Bool { task?.result == .held }

    /// The work is done, or was tried for the last time.
    ///
    /// - Parameter output: nil after a failure.
    mutating func endTask(_ outcome: String, _ output: Bool?) throws {
        try checkIsAtRest()
        let former = task
        try whole { journey in
            journey.movedAt = journey.now
            journey.output = output
            try journey.finishTask(outcome)
        }
        // Whoever waits for the one waits for the other.
        challenge(former?.challenge)
    }

    /// What sent the step came with is kept by the task that the step began.
    mutating func challenge(_ challenge: String?) {
        if hasBegun, isBusy { frames[frames.count - 1].task?.challenge = challenge }
    }

    /// A result came that the flow does not take.
    mutating func keep(_ result: Result) {
        frames[frames.count - 1].task?.result = result
        if result == .held { dueAt = nil }
    }

    /// The journey goes on in another session, which has other flags.
    mutating func move(to session: [String: [String: Bool]]) {
        self.session = session
        settledAt = now
        guard let task else { return }
        frames[frames.count - 1].task?.hasMoved = true
        // The lease was of the former place.
        if task.result != nil { keep(.held) }
    }

    /// Does what the task's state says about an outcome.
    mutating func finishTask(_ outcome: String) throws {
        guard let top = frames.last, case .task(let state) = self.state(of: top),
            let moves = state.done[outcome] ?? state.done[""], let move = try first(of: moves, top.coordinator)
        else { throw Refused() }
        isFact = true
        guard !move.isMove else { return try take(move, of: top.coordinator) }
        try make(move, top.coordinator)
        cut(to: frames.count - 2)
        try settle(isLed: false)
    }
}
