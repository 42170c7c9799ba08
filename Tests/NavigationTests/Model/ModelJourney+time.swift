/// What happens by itself.
extension ModelJourney {
    /// A timer, or the time of a screen or a task, that runs.
    struct Clock {
        let start: ModelFlow.Timer.Start
        var every: Int64?
        var times: Int?
        let effect: Effect
        let begunAt: Int64
        /// How many of its times have passed, counted from the moment of the data, if it has one.
        var passed = 0
        var moment: Int64?
        /// It has led on, and does not do so again.
        var isOver = false

        enum Effect {
            case timer(ModelFlow.Move)
            case timeout(ModelFlow.Move?)
            /// The time of a task.
            case endOfTask
        }

        /// How long after one time the next is; nil for a clock with one time.
        var interval: Int64? {
            if let every { return every }
            guard case .after(let time) = start else { return nil }
            if case .timer(let move) = effect { return move.isMove ? time : nil }
            return time
        }
    }

    /// What is due next.
    enum Bell {
        /// The time of a coordinator's flow is over.
        case limit(Int)
        /// A clock rings: one of a coordinator's flow, or with nil of the screen.
        case clock(of: Int?, place: Int, at: Int64)
    }

    /// What happened by itself in a step, for counting.
    enum TimeEvent: String, CaseIterable {
        case reminder, repeated, missed, passed, moment, timerMove, refusedMove, timeout, refusedTimeout, taskTimeout
        case childExpired, expired, heldByTime
    }

    static func clocks(of timers: [ModelFlow.Timer], begunAt: Int64) -> [Clock] {
        timers.map {
            Clock(start: $0.start, every: $0.every, times: $0.times, effect: .timer($0.move), begunAt: begunAt)
        }
    }

    /// The top screen is entered: its clocks begin.
    mutating func wind() {
        entries += 1
        screenClocks = []
        guard let top = frames.last else { return }
        switch state(of: top) {
        case .screen(let screen):
            screenClocks = Self.clocks(of: screen.timers, begunAt: now)
            if let timeout = screen.timeout {
                screenClocks.append(
                    Clock(start: .after(timeout.after), effect: .timeout(timeout.move), begunAt: now))
            }
        case .task(let task):
            screenClocks = Self.clocks(of: task.timers, begunAt: now)
            if let time = task.timeout {
                screenClocks.append(Clock(start: .after(time), effect: .endOfTask, begunAt: now))
            }
        case .choice, .flow, .final: break
        }
    }

    // MARK: - When

    /// When something happens by itself next, as it was known at the last step.
    mutating func setDue() {
        settledAt = now
        dueAt = isHeld ? nil : next(since: now)?.at
    }

    /// When the journey's own flow is over; nil: never.
    var expiresAt: Int64? { isHeld ? nil : coordinators.first.flatMap(end) }

    /// Of several at one time the ends of flows come first, the outermost before the others, then the clocks of flows
    /// in that order, then those of the screen.
    func next(since floor: Int64) -> (at: Int64, bell: Bell)? {
        var bells: [(at: Int64, bell: Bell)] = []
        for coordinator in coordinators {
            if let end = end(of: coordinator) { bells.append((end, .limit(coordinator.id))) }
        }
        for coordinator in coordinators {
            for (place, clock) in coordinator.clocks.enumerated() {
                guard let at = time(of: clock, coordinator.id, since: floor) else { continue }
                bells.append((at, .clock(of: coordinator.id, place: place, at: at)))
            }
        }
        if let top = frames.last {
            for (place, clock) in screenClocks.enumerated() {
                guard let at = time(of: clock, top.coordinator, since: floor) else { continue }
                bells.append((at, .clock(of: nil, place: place, at: at)))
            }
        }
        guard let first = bells.map(\.at).min() else { return nil }
        return bells.first { $0.at == first }
    }

    /// A flow is not idle before it has begun.
    private func end(of coordinator: Coordinator) -> Int64? {
        let limit = flows[coordinator.flow].limit
        let ends = [
            limit.total.map { coordinator.startedAt + $0 },
            limit.idle.map { max(coordinator.startedAt, movedAt) + $0 },
        ]
        return ends.compactMap(\.self).min()
    }

    /// The moment that the data says; nil for none.
    func moment(of clock: Clock, _ coordinator: Int) -> Int64? {
        guard case .at(let flag, let up, let down) = clock.start else { return nil }
        return read(flag, coordinator) ? up : down
    }

    /// When a clock rings next.
    ///
    /// - Parameter floor: a moment of the data that has passed is due at once, and not before.
    private func time(of clock: Clock, _ coordinator: Int, since floor: Int64) -> Int64? {
        if clock.isOver { return nil }
        var passed = clock.passed
        let first: Int64
        switch clock.start {
        case .after(let time): first = clock.begunAt + time
        case .at:
            guard let moment = moment(of: clock, coordinator) else { return nil }
            if clock.moment != moment { passed = 0 }
            first = max(moment, passed == 0 ? floor : moment)
            if passed == 0 { return first }
        }
        guard passed > 0 else { return first }
        guard let interval = clock.interval, passed < clock.times ?? .max else { return nil }
        let at = first + Int64(passed) * interval
        if case .at = clock.start { return max(at, floor) }
        return at
    }
}
