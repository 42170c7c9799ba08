import JSONDocument

extension StepRun {
    /// Makes "live coordinators are the ones with frames" true again after frames have left: coordinators without one
    /// are released, children first, and their parents are told.
    ///
    /// - Parameter isDirected: whether it is decided where to go; a parent that is told then does no more than its
    ///   actions.
    mutating func settle(isDirected: Bool) throws(JourneyRefusal) {
        var isDirected = isDirected
        while journey.isActive {
            try skipUnreachable()
            guard let lost = firstWithoutFrames() else { return }
            let id = journey.coordinators[lost].id
            guard let parent = journey.coordinators[lost].parent else {
                return try finishJourney(outcome: ChildFlow.abandoned, output: nil)
            }
            let state = journey.coordinators[lost].startedBy
            try release(id, outcome: ChildFlow.abandoned)
            let told = try tell(parent, state, outcome: ChildFlow.abandoned, byFinal: false, output: nil)
            guard let told else { continue }
            note(told.place, of: parent)
            try run(told.actions, of: parent)
            // A parent that has lost its own frames just now is on its way out, too.
            guard told.moves, !isDirected, !losers.contains(parent) || hasFrames(parent) else { continue }
            markHistory(told.history)
            isDirected = try go(told.nav ?? .push, to: told.target, of: parent)
        }
    }

    /// A frame that shows itself again, and that one may not be on any more, leaves, too.
    private mutating func skipUnreachable() throws(JourneyRefusal) {
        guard isUncovered else { return }
        while let top = journey.frames.last, journey.frames.count > 1, try !isReachable(top) {
            removeFrames(from: journey.frames.count - 1)
        }
    }

    /// The place of a coordinator that has no frame and whose children have none. Children stand behind their parents,
    /// so the last such place is that of a child whose own children are gone.
    private func firstWithoutFrames() -> Int? {
        if journey.coordinators.count == 1 { return journey.frames.isEmpty ? 0 : nil }
        var alive = journey.coordinators.map { _ in false }
        var last = (id: -1, place: 0)
        for frame in journey.frames {
            if frame.coordinator != last.id {
                let place = journey.coordinators.firstIndex { $0.id == frame.coordinator }
                last = (frame.coordinator, place ?? 0)
            }
            alive[last.place] = true
        }
        for place in journey.coordinators.indices.reversed() where alive[place] {
            guard let parent = journey.coordinators[place].parent else { continue }
            if let parent = journey.coordinators.firstIndex(where: { $0.id == parent }) { alive[parent] = true }
        }
        return alive.lastIndex(of: false)
    }

    private func hasFrames(_ coordinator: Int) -> Bool {
        let family = family(of: coordinator)
        return journey.frames.contains { family.contains($0.coordinator) }
    }

    /// The coordinator and all that it started, parents first.
    func family(of coordinator: Int) -> [Int] {
        var family = [coordinator]
        for other in journey.coordinators {
            if let parent = other.parent, family.contains(parent) { family.append(other.id) }
        }
        return family
    }

    /// The `exit` of its flow, and it is gone.
    private mutating func release(_ coordinator: Int, outcome: String?) throws(JourneyRefusal) {
        do {
            try run(try flow(of: coordinator).exit, of: coordinator)
        } catch {
            // Its definition may be gone; what ends in whatever way ends without it.
            guard isLenient else { throw error }
        }
        let flow = journey.coordinator(coordinator)?.flow ?? journey.flow
        journey.coordinators.removeAll { $0.id == coordinator }
        losers.removeAll { $0 == coordinator }
        if let outcome { record(.childFinished(flow: flow, outcome: outcome)) }
        record(.released(flow: flow))
    }

    /// What the parent does about the end of a child; nil when nothing.
    private mutating func tell(
        _ parent: Int, _ state: String?, outcome: String, byFinal: Bool, output: JSONDocument?
    ) throws(JourneyRefusal) -> Transition? {
        self.output = output
        let definition = isLenient ? try? flow(of: parent) : try flow(of: parent)
        guard let state, let child = definition?.state(state)?.childFlow else { return nil }
        return try choose(child.transitions(after: outcome, byFinal: byFinal), of: parent)
    }

    /// A flow has come to a `final`.
    ///
    /// - Returns: what its parent does about it; nil when nothing, or when it was the journey's own flow.
    mutating func end(
        _ coordinator: Int, _ ending: Ending
    ) throws(JourneyRefusal) -> (parent: Int, transition: Transition)? {
        var output = JSONDocument.null
        if let template = ending.output { output = try scope(of: coordinator).value(of: template) }
        if output.depth > Self.maximumDepth {
            throw .actionFailed(
                JSONViolation(pointer: "/output", detail: "is nested more than \(Self.maximumDepth) levels deep"))
        }
        guard let parent = journey.coordinator(coordinator)?.parent else {
            try finishJourney(outcome: ending.outcome, output: output)
            return nil
        }
        return try end(coordinator, outcome: ending.outcome, byFinal: true, output: output)
            .map { (parent: parent, transition: $0) }
    }

    /// Ends a child and all that it has started.
    mutating func end(
        _ coordinator: Int, outcome: String, byFinal: Bool, output: JSONDocument?
    ) throws(JourneyRefusal) -> Transition? {
        guard let ending = journey.coordinator(coordinator), let parent = ending.parent else { return nil }
        let family = family(of: coordinator)
        journey.frames.removeAll { family.contains($0.coordinator) }
        // When time ends a child, a screen of its parent may lie on top of it, and then be the first of all.
        if !journey.frames.isEmpty { journey.frames[0].presentation = .root }
        try releaseChildren(family)
        try release(coordinator, outcome: outcome)
        isUncovered = true
        return try tell(parent, ending.startedBy, outcome: outcome, byFinal: byFinal, output: output)
    }

    /// Of a family whose head ends: children before parents, each parent told, which does its actions.
    private mutating func releaseChildren(_ family: [Int]) throws(JourneyRefusal) {
        for child in family.dropFirst().reversed() {
            guard let gone = journey.coordinator(child), let parent = gone.parent else { continue }
            try release(child, outcome: ChildFlow.abandoned)
            let told = try tell(parent, gone.startedBy, outcome: ChildFlow.abandoned, byFinal: false, output: nil)
            guard let told else { continue }
            note(told.place, of: parent)
            try run(told.actions, of: parent)
        }
    }

    /// The journey's own flow has ended.
    mutating func finishJourney(outcome: String, output: JSONDocument?) throws(JourneyRefusal) {
        try releaseAll()
        journey.status = .finished
        journey.outcome = outcome
        journey.output = output
        record(.finished(outcome: outcome))
    }

    mutating func expireJourney() throws(JourneyRefusal) {
        isLenient = true
        try leaveScreen()
        try releaseAll()
        journey.status = .expired
        record(.expired)
    }

    /// The whole stack and every coordinator, children first.
    mutating func releaseAll() throws(JourneyRefusal) {
        journey.frames.removeAll()
        guard let root = journey.coordinators.first?.id else { return }
        try releaseChildren(family(of: root))
        try release(root, outcome: nil)
        losers.removeAll()
    }
}
