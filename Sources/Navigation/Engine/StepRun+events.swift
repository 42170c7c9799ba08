import JSONDocument

extension StepRun {
    /// What an event does here.
    struct Reaction {
        let rule: EventRule
        /// Whose flow the rule stands in.
        let coordinator: Int
        let shape: ShapeRule?
    }

    /// The screen's own rule, else that of the nearest flow; nil when nothing waits for the event.
    mutating func reaction(to event: String) throws(JourneyRefusal) -> Reaction? {
        guard let top = journey.frames.last else { return nil }
        let screen = try screen(of: top)
        var coordinator: Int? = top.coordinator
        if let rule = screen.rule(for: event) {
            let flow = try flow(of: top.coordinator)
            return Reaction(
                rule: rule, coordinator: top.coordinator, shape: screen.shape(of: event) ?? flow.shape(of: event))
        }
        while let current = coordinator {
            let flow = try flow(of: current)
            if let rule = flow.rule(for: event) {
                return Reaction(
                    rule: rule, coordinator: current, shape: screen.shape(of: event) ?? flow.shape(of: event))
            }
            coordinator = journey.place(of: current).flatMap { journey.coordinators[$0].parent }
        }
        return nil
    }

    /// All that may happen here but `back`, the screen's own first.
    mutating func reactions() throws(JourneyRefusal) -> [Reaction] {
        guard let top = journey.frames.last else { return [] }
        let screen = try screen(of: top)
        let flow = try flow(of: top.coordinator)
        var reactions = screen.events.map { rule in
            Reaction(
                rule: rule, coordinator: top.coordinator,
                shape: screen.shape(of: rule.event) ?? flow.shape(of: rule.event))
        }
        var coordinator: Int? = top.coordinator
        while let current = coordinator {
            let flow = try self.flow(of: current)
            for rule in flow.events where !reactions.contains(where: { $0.rule.event == rule.event }) {
                let shape = screen.shape(of: rule.event) ?? flow.shape(of: rule.event)
                reactions.append(Reaction(rule: rule, coordinator: current, shape: shape))
            }
            coordinator = journey.place(of: current).flatMap { journey.coordinators[$0].parent }
        }
        return reactions
    }

    /// What is known to be in the way of an event; empty when nothing is.
    ///
    /// The `requires` of the screen to come are looked at only when nothing is done before it is come to: what is done
    /// may be just what they ask for.
    mutating func obstacles(to reaction: Reaction) throws(JourneyRefusal) -> [JSONViolation] {
        var obstacles: [JSONViolation] = []
        let flow = try flow(of: reaction.coordinator)
        let scope = scope(of: reaction.coordinator)
        for transition in reaction.rule.transitions {
            let verdict = transition.guard.map { scope.test($0, in: flow) } ?? .holds
            if verdict == .fails, let guardian = transition.guard {
                obstacles += scope.reasons(against: guardian, in: flow)
                continue
            }
            let inTheWay = try self.obstacles(to: transition, of: reaction.coordinator)
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
        var target: FlowState?
        if let place = transition.target { target = try flow(of: coordinator).states[place] }
        switch transition.nav {
        case .dismiss where !journey.frames.contains { $0.presentation == .modal }:
            return [JSONViolation(pointer: "", detail: "there is no modal context to dismiss")]
        case .pop where try landing() == nil:
            return [JSONViolation(pointer: "", detail: "there is no screen to go back to")]
        case .popTo where target?.isScreen ?? false:
            let found = try landing { $0.coordinator == coordinator && $0.state == target?.id }
            return found == nil ? [JSONViolation(pointer: "", detail: "there is no such screen to go back to")] : []
        case .popToRoot where try rootLanding() == nil:
            return [JSONViolation(pointer: "", detail: "the first screen cannot be gone back to")]
        default: break
        }
        guard let screen = target?.screen, transition.actions.isEmpty, let top = journey.frames.last,
            try self.screen(of: top).exit.isEmpty
        else { return [] }
        return try unmet(screen.requires, of: coordinator)
    }
}
