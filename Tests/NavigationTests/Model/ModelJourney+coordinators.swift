/// Flows that start and end.
extension ModelJourney {
    mutating func begin(_ flow: Int) throws {
        (outcome, isExpired) = (nil, false)
        movedAt = now
        let id = add(flow, parent: nil, startedBy: nil)
        let isLed = try go(to: flows[flow].initial, of: id, verb: .push)
        try settle(isLed: isLed)
    }

    mutating func add(_ flow: Int, parent: Int?, startedBy: Int?) -> Int {
        let id = makeID()
        coordinators.append(
            Coordinator(
                id: id, flow: flow, parent: parent, startedBy: startedBy, startedAt: now,
                clocks: Self.clocks(of: flows[flow].timers, begunAt: now)))
        apply(flows[flow].entry, id)
        return id
    }

    /// The journey's own flow ends.
    mutating func end() throws {
        frames = []
        screenClocks = []
        entries += 1
        guard let own = coordinators.first else { return }
        try releaseChildren(of: own.id)
        release(own.id)
    }

    mutating func finish(_ id: Int, outcome: String) throws -> Bool {
        let ended = coordinator(id)
        guard let parent = ended.parent, let startedBy = ended.startedBy else {
            try end()
            self.outcome = outcome
            return false
        }
        let gone = family(of: id)
        frames.removeAll { gone.contains($0.coordinator) }
        if !frames.isEmpty { frames[0].presentation = .root }
        isUncovered = true
        try releaseChildren(of: id)
        release(id)
        guard let move = try told(parent, of: startedBy, outcome: outcome, byFinal: true) else { return false }
        try make(move, parent)
        guard move.target != nil || move.verb != nil else { return false }
        mark(move.history)
        return try follow(move, of: parent)
    }

    /// What a parent does about the end of a child.
    func told(_ parent: Int, of state: Int, outcome: String, byFinal: Bool) throws -> ModelFlow.Move? {
        guard case .flow(_, let done) = flows[coordinator(parent).flow].states[state] else { return nil }
        let moves = done[outcome] ?? (byFinal ? done[""] : outcome == "closed" ? done["abandoned"] : nil) ?? []
        // What closes is not kept from it by what is undecided.
        return farewell == "closed" ? moves.first { holds($0.condition, parent) } : try first(of: moves, parent)
    }

    /// What is left to be done after a move: who has lost everything is released, and the new screen is entered.
    mutating func settle(isLed: Bool) throws {
        try release(isLed: isLed)
        output = nil
        guard let top = frames.last, let screen = screen(of: top) else { return }
        defer { wind() }
        guard mayBeOn(top) else {
            guard isFact else { throw Refused() }
            isUnentered = true
            return
        }
        apply(screen.entry, top.coordinator)
    }

    mutating func release(isLed: Bool) throws {
        var isLed = isLed
        while true {
            // A screen that shows itself again, and that one may not be on any more, leaves, too.
            while isUncovered, frames.count > 1, let top = frames.last, !mayBeOn(top) { frames.removeLast() }
            guard let lost = coordinators.last(where: { !isPresent($0.id) }) else { break }
            guard let parent = lost.parent, let startedBy = lost.startedBy else {
                try end()
                outcome = farewell
                return
            }
            release(lost.id)
            guard let move = try told(parent, of: startedBy, outcome: farewell, byFinal: false) else { continue }
            try make(move, parent)
            let isOnItsWayOut = !isPresent(parent) && framesBefore.contains { $0.coordinator == parent }
            if move.target != nil || move.verb != nil, !isLed, !isOnItsWayOut {
                mark(move.history)
                isLed = try follow(move, of: parent)
            }
        }
    }

    func isPresent(_ id: Int) -> Bool {
        let family = family(of: id)
        return frames.contains { family.contains($0.coordinator) }
    }

    /// A coordinator and all below it, older ones first.
    func family(of id: Int) -> [Int] {
        var family = [id]
        for other in coordinators {
            if let parent = other.parent, family.contains(parent) { family.append(other.id) }
        }
        return family
    }

    /// Children before parents, each parent told.
    mutating func releaseChildren(of id: Int) throws {
        for child in family(of: id).dropFirst().reversed() {
            let gone = coordinator(child)
            release(child)
            guard let parent = gone.parent, let startedBy = gone.startedBy else { continue }
            if let move = try told(parent, of: startedBy, outcome: farewell, byFinal: false) {
                try make(move, parent)
            }
        }
    }

    mutating func release(_ id: Int) {
        apply(flows[coordinator(id).flow].exit, id)
        for place in owned.indices.reversed() where owned[place].coordinator == id {
            removed.append(owned.remove(at: place).service)
        }
        coordinators.removeAll { $0.id == id }
    }
}
