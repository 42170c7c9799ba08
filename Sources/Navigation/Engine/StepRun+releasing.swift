import JSONDocument

/// Ends flows: a coordinator lives exactly as long as it, or a child of it, has a frame or is entering one.
extension StepRun {
    /// The outcome of flows that lose their last frame.
    private var leaving: String { isClosing == true ? ChildFlow.closed : ChildFlow.abandoned }

    /// Releases the coordinators that lost their last frame, children first, and tells their parents.
    ///
    /// - Parameter isDirected: whether a target has been reached. A parent that is told then only runs its actions.
    mutating func settle(isDirected: Bool) throws(JourneyRefusal) {
        var isDirected = isDirected
        while journey.isActive {
            try skipClosedScreens()
            guard let lost = firstWithoutFrames() else { return }
            let coordinator = journey.coordinators[lost]
            guard let parent = coordinator.parent else {
                return try finishJourney(outcome: leaving, output: nil)
            }
            guard let told = try abandon(coordinator) else { continue }
            // A parent that has lost its own frames, too, is about to be released itself.
            guard told.moves, !isDirected, !losers.contains(parent) || hasFrames(parent) else { continue }
            markHistory(told.history)
            isDirected = try go(told.nav ?? .push, to: told.target, of: parent, by: told)
        }
    }

    /// Removes uncovered frames whose `requires` do not hold any more; the first frame of the stack stays.
    private mutating func skipClosedScreens() throws(JourneyRefusal) {
        guard isUncovered else { return }
        while let top = journey.frames.last, journey.frames.count > 1, try !isOpen(top) {
            uncover(upTo: journey.frames.count - 2)
        }
    }

    /// The place of a coordinator without frames whose children have none either. Children are listed behind their
    /// parents, so the last such place is that of a coordinator without living children.
    private func firstWithoutFrames() -> Int? {
        if journey.coordinators.count == 1 { return journey.frames.isEmpty ? 0 : nil }
        var alive = journey.coordinators.map { _ in false }
        var last = (id: -1, place: 0)
        for frame in journey.frames {
            if frame.coordinator != last.id {
                last = (frame.coordinator, journey.coordinators.place(of: frame.coordinator) ?? 0)
            }
            alive[last.place] = true
        }
        for place in journey.coordinators.indices.reversed() where alive[place] {
            guard let parent = journey.coordinators[place].parent else { continue }
            if let parent = journey.coordinators.place(of: parent) { alive[parent] = true }
        }
        return alive.lastIndex(of: false)
    }

    private func hasFrames(_ coordinator: Int) -> Bool {
        let family = family(of: coordinator)
        return journey.frames.contains { family.contains($0.coordinator) }
    }

    /// A coordinator and all that it started, parents first.
    func family(of coordinator: Int) -> [Int] {
        var family = [coordinator]
        for other in journey.coordinators {
            if let parent = other.parent, family.contains(parent) { family.append(other.id) }
        }
        return family
    }

    /// Releases a child that did not reach a `final`, and runs the actions of the parent's transition for that.
    ///
    /// - Returns: the transition, whose move the caller does; nil when there is none.
    private mutating func abandon(_ child: Coordinator) throws(JourneyRefusal) -> Transition? {
        guard let parent = child.parent else { return nil }
        try release(child.id)
        let told = try transition(of: parent, after: child, outcome: leaving, byFinal: false, output: nil)
        if let told { try perform(told, of: parent) }
        return told
    }

    /// Runs the `exit` of a coordinator's flow and removes the coordinator.
    private mutating func release(_ coordinator: Int) throws(JourneyRefusal) {
        hasEnded = true
        do {
            try run(try flow(of: coordinator).exit, of: coordinator)
        } catch {
            // Even a flow whose definition is gone can end.
            guard isLenient else { throw error }
        }
        services.dispose { $0.coordinator == coordinator }
        journey.coordinators.removeAll { $0.id == coordinator }
        forgetFlow(of: coordinator)
        if let timers = journey.timers { journey.timers = timers.forgetting(coordinator) }
        losers.removeAll { $0 == coordinator }
    }

    /// The parent's transition for the end of a child; nil when there is none.
    private mutating func transition(
        of parent: Int, after child: Coordinator, outcome: String, byFinal: Bool, output: JSONDocument?
    ) throws(JourneyRefusal) -> Transition? {
        self.output = output
        let definition = isLenient ? try? flow(of: parent) : try flow(of: parent)
        guard let state = child.startedBy, let childFlow = definition?.state(state)?.childFlow else { return nil }
        let transitions = childFlow.transitions(after: outcome, byFinal: byFinal)
        let told = isResuming ? transitions.leadingOn : transitions
        // What is undecided must not keep a child that has to end.
        return isLenient ? try? choose(told, of: parent) : try choose(told, of: parent)
    }

    /// Ends a flow that has reached a `final`.
    ///
    /// - Returns: the parent's transition; nil when there is none, or when it was the journey's own flow.
    mutating func end(
        _ coordinator: Int, _ ending: Ending
    ) throws(JourneyRefusal) -> (parent: Int, transition: Transition)? {
        var output = JSONDocument.null
        if let template = ending.output { output = try scope(of: coordinator).value(of: template) }
        try output.checkNesting(at: "/output")
        guard let parent = journey.coordinator(coordinator)?.parent else {
            try finishJourney(outcome: ending.outcome, output: output)
            return nil
        }
        return try end(coordinator, outcome: ending.outcome, byFinal: true, output: output)
            .map { (parent: parent, transition: $0) }
    }

    /// Ends a child and all that it has started.
    ///
    /// - Returns: the parent's transition; nil when there is none.
    mutating func end(
        _ coordinator: Int, outcome: String, byFinal: Bool, output: JSONDocument?
    ) throws(JourneyRefusal) -> Transition? {
        guard let ending = journey.coordinator(coordinator), let parent = ending.parent else { return nil }
        let family = family(of: coordinator)
        if let top = journey.frames.last, family.contains(top.coordinator) { journey.task = nil }
        journey.frames.removeAll { family.contains($0.coordinator) }
        // When a timeout ends a child, a frame of its parent may be on top of it, and become the first.
        if !journey.frames.isEmpty { journey.frames[0].presentation = .root }
        try releaseChildren(family)
        try release(coordinator)
        isUncovered = true
        return try transition(of: parent, after: ending, outcome: outcome, byFinal: byFinal, output: output)
    }

    /// Releases a family without its head, children before parents.
    private mutating func releaseChildren(_ family: [Int]) throws(JourneyRefusal) {
        for child in family.dropFirst().reversed() {
            guard let child = journey.coordinator(child) else { continue }
            _ = try abandon(child)
        }
    }

    /// Ends the journey's own flow.
    mutating func finishJourney(outcome: String, output: JSONDocument?) throws(JourneyRefusal) {
        try releaseAll()
        journey.status = .finished
        journey.outcome = outcome
        journey.output = output
    }

    /// Ends the journey because its time is over. Actions that fail are skipped.
    mutating func expireJourney() throws(JourneyRefusal) {
        purpose = .release(isClosing: false)
        services.work = ListWork()
        try leaveScreen()
        try releaseAll()
        services.overwork = nil
        journey.status = .expired
    }

    /// Removes the whole stack and releases every coordinator, children first.
    mutating func releaseAll() throws(JourneyRefusal) {
        journey.frames.removeAll()
        journey.task = nil
        journey.timers = nil
        // Nothing of a journey that is over stays, even when its coordinators cannot be read.
        defer { services.dispose { _ in true } }
        guard let root = journey.coordinators.first?.id else { return }
        let input = journey.input
        // Not a conditional expression: there, nil would mean the document null.
        if input != .emptyObject { journey.formerInput = input }
        try releaseChildren(family(of: root))
        try release(root)
        losers.removeAll()
    }
}
