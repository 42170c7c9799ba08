/// Does what is due.
extension ModelJourney {
    /// What follows from the flags and the time without an event.
    ///
    /// - Returns: whether that was anything.
    mutating func look() throws -> Bool {
        timeEvents = []
        (notes, removed) = ([], [])
        settledAt = min(settledAt, now)
        let moves = unpromptedMoves
        var copy = fresh
        copy.hasActed = false
        do {
            try copy.catchUp(to: now)
        } catch {
            // It does not come to rest.
            copy = fresh
            try copy.expireNow()
        }
        timeEvents = copy.timeEvents
        guard copy.hasActed || copy.unpromptedMoves > moves else {
            // Nothing was done, but times may have passed.
            let isLate = !copy.timeEvents.isEmpty || isDue
            (coordinators, screenClocks) = (copy.coordinators, copy.screenClocks)
            if isLate { settledAt = now }
            dueAt = isHeld ? nil : next(since: settledAt)?.at
            return false
        }
        self = copy
        setDue()
        return true
    }

    /// What is due happens at its time, one after the other.
    private mutating func catchUp(to moment: Int64) throws {
        var floor = min(settledAt, dueAt ?? moment)
        while !isHeld, let next = next(since: floor), next.at <= moment {
            (now, floor) = (next.at, next.at)
            prepareForMove()
            try ring(next.bell, until: moment)
            if !isHeld { try rest() }
        }
        now = moment
        prepareForMove()
        try rest()
    }

    private mutating func ring(_ bell: Bell, until moment: Int64) throws {
        if task?.result == .kept, endsTask(bell) {
            // The work was done: no time undoes that.
            happened(.heldByTime)
            return keep(.held)
        }
        switch bell {
        case .limit(let id):
            guard let parent = coordinator(id).parent else { return try expireNow() }
            if attempt({ try $0.endChild(id, of: parent) }) { happened(.childExpired) } else { try expireNow() }
        case .clock(let owner, let place, let at):
            guard let coordinator = owner ?? frames.last?.coordinator else { return }
            try ring(clockAt(place, of: owner), owner, place, seenBy: coordinator, at, until: moment)
        }
    }

    private func endsTask(_ bell: Bell) -> Bool {
        guard case .clock(let owner, let place, _) = bell else { return true }
        if case .timer(let move) = clockAt(place, of: owner).effect { return move.isMove }
        return true
    }

    private func clockAt(_ place: Int, of owner: Int?) -> Clock {
        owner.map { coordinator($0).clocks[place] } ?? screenClocks[place]
    }

    private mutating func set(_ clock: Clock, _ place: Int, of owner: Int?) {
        guard let owner else {
            screenClocks[place] = clock
            return
        }
        if let here = coordinators.firstIndex(where: { $0.id == owner }) { coordinators[here].clocks[place] = clock }
    }

    private mutating func ring(
        _ clock: Clock, _ owner: Int?, _ place: Int, seenBy coordinator: Int, _ at: Int64, until moment: Int64
    ) throws {
        var clock = pass(clock, coordinator, until: moment)
        set(clock, place, of: owner)
        switch clock.effect {
        case .endOfTask:
            if attempt({ try $0.finishTask("timeout") }) { happened(.taskTimeout) } else { try expireNow() }
        case .timeout(let move):
            guard let move else { return try expireNow() }
            guard holds(move.condition, coordinator) else { return timeEvents.append(.passed) }
            if attempt({ try $0.go(by: move, of: coordinator) }) {
                happened(.timeout)
            } else {
                timeEvents.append(.refusedTimeout)
                try expireNow()
            }
        case .timer(let move):
            guard holds(move.condition, coordinator) else { return timeEvents.append(.passed) }
            let entered = entries
            guard attempt({ try $0.go(by: move, of: coordinator) }) else { return timeEvents.append(.refusedMove) }
            happened(move.isMove ? .timerMove : clock.passed > 1 ? .repeated : .reminder)
            if case .at = clock.start { happened(.moment) }
            // A move is made once, unless the file says how often. A screen that was left has forgotten its clocks.
            guard clock.every == nil, case .after = clock.start, owner != nil || entries == entered else { return }
            clock.isOver = true
            set(clock, place, of: owner)
        }
    }

    /// One time of a clock passes, and with it those that were missed.
    private mutating func pass(_ clock: Clock, _ coordinator: Int, until moment: Int64) -> Clock {
        var clock = clock
        var first = clock.begunAt
        switch clock.start {
        case .after(let time): first += time
        case .at:
            first = self.moment(of: clock, coordinator) ?? 0
            if clock.moment != first { clock.passed = 0 }
            clock.moment = first
        }
        clock.passed += 1
        guard let interval = clock.interval else { return clock }
        while first + Int64(clock.passed) * interval <= moment {
            clock.passed += 1
            if clock.passed <= clock.times ?? .max { timeEvents.append(.missed) }
        }
        return clock
    }

    private mutating func go(by move: ModelFlow.Move, of coordinator: Int) throws {
        if move.isMove { try take(move, of: coordinator) } else { try make(move, coordinator) }
    }

    private mutating func happened(_ event: TimeEvent) {
        hasActed = true
        timeEvents.append(event)
    }

    /// All of a move or nothing.
    private mutating func attempt(_ move: (inout ModelJourney) throws -> Void) -> Bool {
        var other = self
        guard (try? move(&other)) != nil else { return false }
        self = other
        return true
    }

    /// The time of the journey is over.
    private mutating func expireNow() throws {
        happened(.expired)
        leave()
        try end()
        isExpired = true
    }

    /// The time of a child is over.
    private mutating func endChild(_ id: Int, of parent: Int) throws {
        let child = coordinator(id)
        let gone = family(of: id)
        let isOnTop = frames.last.map { gone.contains($0.coordinator) } ?? false
        if isOnTop { leave() }
        frames.removeAll { gone.contains($0.coordinator) }
        if !frames.isEmpty { frames[0].presentation = .root }
        isUncovered = true
        try releaseChildren(of: id)
        release(id)
        let move = try child.startedBy.flatMap { try told(parent, of: $0, outcome: "expired", byFinal: false) }
        let isMove = move?.isMove ?? false
        if isMove, !isOnTop { leave() }
        if let move { try make(move, parent) }
        var isLed = false
        if let move, isMove {
            mark(move.history)
            isLed = try follow(move, of: parent)
        }
        if isOnTop || isMove { try settle(isLed: isLed) } else { try release(isLed: false) }
    }
}
