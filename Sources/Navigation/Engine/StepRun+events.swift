import JSONDocument

extension StepRun {
    /// What an event does here.
    struct Reaction {
        let rule: EventRule
        /// Whose flow the rule stands in.
        let coordinator: Int
    }

    /// The screen's own rule, else that of the nearest flow; nil when nothing waits for the event.
    mutating func reaction(to event: String) throws(JourneyRefusal) -> Reaction? {
        guard let top = journey.frames.last else { return nil }
        let screen = try screen(of: top).screen
        var coordinator: Int? = top.coordinator
        if let rule = screen.rule(for: event) {
            return Reaction(rule: rule, coordinator: top.coordinator)
        }
        while let current = coordinator {
            let flow = try flow(of: current)
            if let rule = flow.rule(for: event) { return Reaction(rule: rule, coordinator: current) }
            coordinator = journey.place(of: current).flatMap { journey.coordinators[$0].parent }
        }
        return nil
    }

    /// All that may happen here but `back`, the screen's own first.
    mutating func reactions() throws(JourneyRefusal) -> [Reaction] {
        guard let top = journey.frames.last else { return [] }
        let screen = try screen(of: top).screen
        let own = try flow(of: top.coordinator)
        var reactions: [Reaction] = []
        reactions.reserveCapacity(screen.events.count + own.events.count)
        for rule in screen.events { reactions.append(Reaction(rule: rule, coordinator: top.coordinator)) }
        var coordinator: Int? = top.coordinator
        while let current = coordinator {
            let flow = try self.flow(of: current)
            for rule in flow.events where !reactions.contains(where: { $0.rule.event == rule.event }) {
                reactions.append(Reaction(rule: rule, coordinator: current))
            }
            coordinator = journey.place(of: current).flatMap { journey.coordinators[$0].parent }
        }
        return reactions
    }

    /// The shape that the event's data must have: the screen's word, then that of the flow that the rule stands in.
    mutating func shape(of reaction: Reaction) throws(JourneyRefusal) -> ShapeRule? {
        guard let top = journey.frames.last else { return nil }
        if let shape = try screen(of: top).screen.shape(of: reaction.rule.event) { return shape }
        return try flow(of: reaction.coordinator).shape(of: reaction.rule.event)
    }

    /// What is known to be in the way of an event; empty when nothing is.
    ///
    /// The `requires` of the screen to come are looked at only when nothing is done before it is come to: what is done
    /// may be just what they ask for.
    mutating func obstacles(to reaction: Reaction) throws(JourneyRefusal) -> [JSONViolation] {
        var obstacles: [JSONViolation] = []
        let transitions = reaction.rule.transitions
        for place in transitions.indices {
            var verdict = Verdict.holds
            if let guardian = transitions[place].guard {
                let flow = try flow(of: reaction.coordinator)
                let scope = scope(of: reaction.coordinator)
                verdict = scope.test(guardian, in: flow)
                if verdict == .fails {
                    obstacles += scope.reasons(against: guardian, in: flow)
                    continue
                }
            }
            let inTheWay = try self.obstacles(to: transitions[place], of: reaction.coordinator)
            if inTheWay.isEmpty { return [] }
            obstacles += inTheWay
            // This is the one that would be taken.
            if verdict == .holds { break }
        }
        return obstacles
    }

    private mutating func obstacles(
        to transition: Transition, of coordinator: Int
    ) throws(JourneyRefusal) -> [JSONViolation] {
        var screen: PreparedScreen?
        if let place = transition.target { screen = try flow(of: coordinator).screens[place] }
        switch transition.nav {
        case .dismiss where !journey.frames.contains { $0.presentation == .modal }:
            return [JSONViolation(pointer: "", detail: "there is no modal context to dismiss")]
        case .pop where try landing() == nil:
            return [JSONViolation(pointer: "", detail: "there is no screen to go back to")]
        case .popTo where screen != nil:
            let state = try transition.target.map { place throws(JourneyRefusal) in
                try flow(of: coordinator).states[place].id
            }
            let found = try landing { $0.coordinator == coordinator && $0.state == state }
            return found == nil ? [JSONViolation(pointer: "", detail: "there is no such screen to go back to")] : []
        case .popToRoot where try rootLanding() == nil:
            return [JSONViolation(pointer: "", detail: "the first screen cannot be gone back to")]
        default: break
        }
        guard let screen, transition.actions.isEmpty, let top = journey.frames.last,
            try self.screen(of: top).screen.exit.isEmpty
        else { return [] }
        return try unmet(screen, of: coordinator)
    }
}
