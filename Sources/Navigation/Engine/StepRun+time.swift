import JSONDocument

/// What happens by itself: timers, the time limits of flows, and standing rules about the time.
extension StepRun {
    /// Screens that replace each other every second need not all be played after a night without a server.
    private static let maximumDeadlines = 64

    /// Something that happens when its time has come.
    fileprivate struct Deadline {
        let at: Int64
        let cause: Cause

        enum Cause {
            /// The time limit of the flow that a coordinator runs.
            case limit(coordinator: Int)
            case timer(TimerMoment)
            /// The guard of a standing rule turns.
            case rule

            /// Whether it would end the task that the journey waits for.
            var endsTask: Bool {
                switch self {
                case .limit: true
                case .timer(let moment): moment.timer.transition?.moves ?? true
                case .rule: false
                }
            }
        }
    }

    /// One of the moments of a timer.
    fileprivate struct TimerMoment {
        let timer: FlowTimer
        /// The coordinator whose flow has the timer, or the screen with it.
        let coordinator: Int
        /// See ``PassedTimer/owner``.
        let owner: Int
        /// The first moment of the timer.
        let first: Int64
        /// How many moments have passed before.
        let count: Int
    }

    /// Sets when the journey expires, and when something happens by itself, unless the journey moves before.
    mutating func setDeadlines() throws(JourneyRefusal) {
        journey.expiresAt = nil
        journey.dueAt = nil
        guard journey.isActive, journey.task?.isHeld != true, try isTimed(), let own = journey.coordinators.first?.id
        else { return }
        let timeout = try flow(of: own).timeout
        journey.expiresAt = timeout.deadline(from: journey.coordinators[0].startedAt, movedAt: journey.movedAt)
        // In a statement of its own: a mutating call inside another call on the run would copy the run.
        let due = try dueAt(since: now)
        journey.dueAt = due
    }

    /// Whether anything happens by itself in one of the flows.
    private mutating func isTimed() throws(JourneyRefusal) -> Bool {
        for place in journey.coordinators.indices {
            if try flow(of: journey.coordinators[place].id).isTimed { return true }
        }
        return false
    }

    /// Whether the data has changed since it was determined when the journey is due, so that it is due at another time.
    mutating func isMisdated() throws(JourneyRefusal) -> Bool {
        guard journey.task?.isHeld != true, try isClocked() else { return false }
        let due = try dueAt(since: now)
        return due != journey.dueAt
    }

    /// Whether something is due that the journey does not know of, because the data has changed.
    mutating func isOverdue() throws(JourneyRefusal) -> Bool {
        guard journey.task?.isHeld != true, try isClocked() else { return false }
        return try dueAt(since: now).map { $0 <= now } ?? false
    }

    /// Whether the data decides when the journey is due.
    mutating func isClocked() throws(JourneyRefusal) -> Bool {
        guard engine.catalog.isClocked, journey.isActive else { return false }
        for place in journey.coordinators.indices {
            if try flow(of: journey.coordinators[place].id).clock.isNeeded { return true }
        }
        return false
    }

    /// With a budget of its own, so that all looks find the same.
    private mutating func dueAt(since floor: Int64) throws(JourneyRefusal) -> Int64? {
        let former = (services.work, services.overwork)
        services.work = ListWork()
        defer { (services.work, services.overwork) = former }
        return try deadline(since: floor)?.at
    }

    /// What happens next. Of several at one time, the end of the outermost flow counts, then timers of flows, then
    /// those of the screen in the order of the file.
    ///
    /// - Parameter floor: before this time nothing is due that is not known yet. A moment of the data that has passed
    ///   is due at once, and not before.
    private mutating func deadline(since floor: Int64) throws(JourneyRefusal) -> Deadline? {
        var next: Deadline?
        for place in journey.coordinators.indices {
            let coordinator = journey.coordinators[place].id
            let timeout = try flow(of: coordinator).timeout
            let at = timeout.deadline(from: journey.coordinators[place].startedAt, movedAt: journey.movedAt)
            if let at { next = next.first(at, .limit(coordinator: coordinator)) }
        }
        for place in journey.coordinators.indices {
            let coordinator = journey.coordinators[place].id
            let timers = try flow(of: coordinator).timers
            if timers.isEmpty { continue }
            let start = journey.coordinators[place].startedAt
            next = try first(next, of: timers, coordinator, owner: coordinator, begunAt: start, floor)
        }
        if let top = journey.frames.last {
            let timers = try screen(of: top).screen.timers
            if !timers.isEmpty {
                next = try first(
                    next, of: timers, top.coordinator, owner: PassedTimer.ofScreen, begunAt: journey.enteredAt, floor)
            }
        }
        if engine.catalog.isClocked, let turn = try nextTurn() { next = next.first(turn, .rule) }
        return next
    }

    /// - Parameter start: when the screen was entered, or the flow started.
    private mutating func first(
        _ deadline: Deadline?, of timers: [FlowTimer], _ coordinator: Int, owner: Int, begunAt start: Int64,
        _ floor: Int64
    ) throws(JourneyRefusal) -> Deadline? {
        var next = deadline
        for timer in timers {
            let passed = journey.timers?.timer(timer.key, of: owner)
            if passed?.count == 0 { continue }
            guard let first = try firstMoment(of: timer, coordinator, begunAt: start) else { continue }
            // The data may have another moment by now than the one that was taken.
            let count = passed.map { ($0.first ?? first) == first ? $0.count : 0 } ?? 0
            guard let at = timer.moment(after: count, from: first) else { continue }
            let moment = TimerMoment(timer: timer, coordinator: coordinator, owner: owner, first: first, count: count)
            next = next.first(timer.at == nil ? at : max(at, floor), .timer(moment))
        }
        return next
    }

    /// The first moment of a timer; nil while the data does not say one.
    private mutating func firstMoment(
        of timer: FlowTimer, _ coordinator: Int, begunAt start: Int64
    ) throws(JourneyRefusal) -> Int64? {
        switch timer.start {
        case .after(let after): return start.later(by: after)
        case .at(let value):
            let text = try? scope(of: coordinator).evaluate(value).string
            return text.flatMap(CalendarTime.init)?.moment.millisecondsSince1970
        }
    }

    // MARK: - When the time has come

    /// Does what is due up to a moment, one after the other, each at the time when it was due.
    mutating func catchUp(to moment: Int64) throws(JourneyRefusal) {
        let enteredAt = journey.enteredAt
        var floor = min(journey.dueAt ?? moment, moment)
        // A rule that turns at this very time is still to turn.
        now = floor &- 1
        services.work = ListWork()
        for _ in 0..<Self.maximumDeadlines {
            // After work with long lists the rest is another step, so that each finds the same whatever else is due.
            guard services.work.isFresh else { return }
            guard journey.isActive, let next = try deadline(since: floor), next.at <= moment else { return }
            (services.work, services.overwork) = (ListWork(), nil)
            (now, floor) = (next.at, next.at)
            isFact = false
            if journey.task?.result != nil, next.cause.endsTask {
                // The work was done: no time undoes that.
                hasActedByTime = true
                journey.noteOfTask { $0.result?.isHeld = true }
                break
            }
            switch next.cause {
            case .limit(let coordinator): try expire(coordinator)
            case .timer(let due): try take(due, until: moment)
            case .rule: break
            }
            // A timer that takes too much work is refused like any other; it does not hold up what follows.
            services.overwork = nil
            // They hold as soon as their guards do, not only when somebody looks.
            try stand()
        }
        guard journey.enteredAt != enteredAt else { return }
        now = moment
        journey.enteredAt = moment
    }

    private mutating func expire(_ coordinator: Int) throws(JourneyRefusal) {
        let parent = journey.coordinator(coordinator)?.parent
        try attemptOrExpire { (run: inout StepRun) throws(JourneyRefusal) in
            guard let parent else { throw .expired }
            try run.end(late: coordinator, of: parent)
        }
    }

    /// Expires the journey where a move that has to be made is refused: it could not go on. What time has done before
    /// stays.
    private mutating func attemptOrExpire(
        _ move: (inout StepRun) throws(JourneyRefusal) -> Void
    ) throws(JourneyRefusal) {
        hasActedByTime = true
        guard !attempt(as: .event(.client), move) else { return }
        try expireJourney()
    }

    /// Ends a child whose time is over, and does what its parent says about that.
    private mutating func end(late coordinator: Int, of parent: Int) throws(JourneyRefusal) {
        if let top = journey.frames.last, family(of: coordinator).contains(top.coordinator) { try leaveScreen() }
        let told = try end(coordinator, outcome: ChildFlow.expired, byFinal: false, output: nil)
        if let told { try take(told, of: parent) }
        if told?.moves != true { try settle(isDirected: false) }
        try arrive()
    }

    /// Takes a moment of a timer that has come, and with it those up to a time, which were missed.
    private mutating func take(_ due: TimerMoment, until time: Int64) throws(JourneyRefusal) {
        let timer = due.timer
        switch timer.effect {
        case .expiry:
            hasActedByTime = true
            try expireJourney()
        case .endOfTask:
            try attemptOrExpire { (run: inout StepRun) throws(JourneyRefusal) in
                try run.endTask(outcome: TaskState.timeout, output: .null)
                try run.arrive()
            }
        case .transition(let transition):
            // Noted first: the transition may leave the screen.
            note(due, passed: timer.passed(with: due.count, from: due.first, by: time))
            let scope = try scope(of: due.coordinator)
            guard scope.test(transition) == .holds, services.overwork == nil else { return }
            if timer.isTimeout {
                return try attemptOrExpire { (run: inout StepRun) throws(JourneyRefusal) in
                    try run.take(transition, of: due.coordinator)
                    try run.arrive()
                }
            }
            let isTaken = attempt(as: .event(.client)) { (run: inout StepRun) throws(JourneyRefusal) in
                try run.take(transition, of: due.coordinator)
                try run.arrive()
            }
            guard isTaken else { return }
            hasActedByTime = true
            // It was asked again until it was taken; a move is made once, unless the file says how often. Timers of a
            // screen that was left, or of a flow that has ended, are forgotten already.
            let isOver = timer.every == nil && timer.at == nil
            if isOver, journey.timers?.timer(timer.key, of: due.owner) != nil { note(due, passed: 0) }
        }
    }

    /// - Parameter count: see ``PassedTimer/count``.
    private mutating func note(_ due: TimerMoment, passed count: Int) {
        let passed = PassedTimer(
            owner: due.owner, key: due.timer.key, count: count, first: due.timer.at == nil ? nil : due.first)
        if let known = journey.timers {
            journey.timers = known.noting(passed)
        } else {
            journey.timers = PassedTimers([passed])
        }
    }
}

extension StepRun.Deadline? {
    /// The deadline, or one that comes before it.
    fileprivate func first(_ at: Int64, _ cause: @autoclosure () -> StepRun.Deadline.Cause) -> StepRun.Deadline? {
        if let self, self.at <= at { return self }
        return StepRun.Deadline(at: at, cause: cause())
    }
}

extension FlowTimeout {
    /// When it is due for what began at a time, in a journey that moved last at another. A child that a timer has
    /// started began later than that, and is not idle before.
    fileprivate func deadline(from start: Int64, movedAt: Int64) -> Int64? {
        earlier(total.map { start.later(by: $0) }, idle.map { max(start, movedAt).later(by: $0) })
    }
}

/// The first of two times; nil stands for never.
package func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
    guard let one else { return other }
    return other.map { min(one, $0) } ?? one
}
