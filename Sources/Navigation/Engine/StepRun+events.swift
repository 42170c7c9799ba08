import JSONDocument

/// The rule for an event on a screen.
package struct Reaction {
    package let rule: EventRule
    /// The coordinator whose flow has the rule.
    package let coordinator: Int
    /// The schema of the event's data: the screen's, else that of the flow of the rule.
    package let shape: ShapeRule?
    /// The rules for the event's data, found in the same order, and the coordinator in whose flow they are.
    package let rules: [FormRule]
    package let rulesOf: Int
    /// The coordinator in whose flow ``shape`` is.
    let shapeOf: Int

    /// - Parameter own: the coordinator of the screen.
    init(_ rule: EventRule, of coordinator: Int, in flow: FlowDefinition, on screen: Screen, of own: Int) {
        self.rule = rule
        self.coordinator = coordinator
        let accepted = screen.accepts[rule.event]
        shape = accepted ?? flow.accepts[rule.event]
        shapeOf = accepted == nil ? coordinator : own
        let form = screen.forms[rule.event]
        rules = form ?? flow.forms[rule.event] ?? []
        rulesOf = form == nil ? coordinator : own
    }
}

extension Screen {
    /// The rules for all events on this screen but `back`: its own first, then those of the flows, the nearest first.
    ///
    /// - Parameter flows: the screen's own flow, the flow that started it, and so on, with their coordinators.
    func reactions(in flows: [(coordinator: Int, flow: FlowDefinition)]) -> [Reaction] {
        guard let own = flows.first else { return [] }
        var reactions = events.map { Reaction($0, of: own.coordinator, in: own.flow, on: self, of: own.coordinator) }
        for (coordinator, flow) in flows {
            for rule in flow.events where !reactions.contains(where: { $0.rule.event == rule.event }) {
                reactions.append(Reaction(rule, of: coordinator, in: flow, on: self, of: own.coordinator))
            }
        }
        return reactions
    }
}

extension StepRun {
    /// Does what the flows say about an event.
    ///
    /// - Parameter hasData: whether the sender gave data.
    mutating func react(to event: String, hasData: Bool = false) throws(JourneyRefusal) {
        if event == EventRule.back {
            guard try goBack(hasData: hasData) else {
                try checkWork()
                throw .eventNotAccepted(event: event, accepted: try accepted())
            }
            return
        }
        guard let reaction = try reaction(to: event), isFromBackend || !reaction.rule.isBackend else {
            throw .eventNotAccepted(event: event, accepted: try accepted())
        }
        try checkData(for: reaction)
        guard let transition = try choose(reaction.rule.transitions, of: reaction.coordinator) else {
            let scope = try scope(of: reaction.coordinator)
            throw .guardNotMet(reaction.rule.transitions.flatMap { scope.reasons(against: $0) })
        }
        // What only a back end may send is a fact, as the result of a task is.
        isFact = reaction.rule.isBackend
        try take(transition, of: reaction.coordinator)
    }

    /// Schema and rules are one answer.
    mutating func checkData(for reaction: Reaction) throws(JourneyRefusal) {
        guard case .data(let data) = event else { return }
        let fits = reaction.shape?.accepts(data) ?? true
        if fits, reaction.rules.isEmpty, reaction.shape?.fields.isEmpty ?? true { return }
        var violations: [JSONViolation] = []
        if let shape = reaction.shape, !fits || !shape.fields.isEmpty {
            let scope = try scope(of: reaction.shapeOf)
            if !fits { violations = shape.violations(in: data, saying: scope.said) }
            violations += scope.violations(in: data, of: shape, besides: violations)
        }
        if !reaction.rules.isEmpty {
            violations += try scope(of: reaction.rulesOf).violations(of: reaction.rules, fits: fits)
        }
        guard violations.isEmpty else { throw .eventDataInvalid(violations) }
    }

    /// The events that could be sent now. Those that depend on the event's data are included.
    private func accepted() throws(JourneyRefusal) -> [String] {
        var run = self
        run.event = .unknown
        var accepted: [String] = []
        for reaction in try run.reactions() {
            if try run.obstacles(to: reaction).isEmpty { accepted.append(reaction.rule.event) }
        }
        if try run.canGoBack() { accepted.append(EventRule.back) }
        return accepted
    }

    /// The rule for an event: the screen's own, else that of the nearest flow; nil when none accepts the event.
    ///
    /// Finds the same as ``reactions()``, without making the list of all.
    mutating func reaction(to event: String) throws(JourneyRefusal) -> Reaction? {
        guard let top = journey.frames.last else { return nil }
        let screen = try screen(of: top).screen
        var rule = screen.rule(for: event)
        var next: Int? = top.coordinator
        while let coordinator = next {
            let flow = try flow(of: coordinator)
            if let rule = rule ?? flow.rule(for: event) {
                return Reaction(rule, of: coordinator, in: flow, on: screen, of: top.coordinator)
            }
            rule = nil
            next = journey.parent(of: coordinator)
        }
        return nil
    }

    /// The rules for all events here but `back`, the screen's own first. Those of back ends are for back ends only.
    mutating func reactions() throws(JourneyRefusal) -> [Reaction] {
        guard let top = journey.frames.last else { return [] }
        var flows: [(coordinator: Int, flow: FlowDefinition)] = []
        var next: Int? = top.coordinator
        while let coordinator = next {
            flows.append((coordinator, try flow(of: coordinator)))
            next = journey.parent(of: coordinator)
        }
        let reactions = try screen(of: top).screen.reactions(in: flows)
        return isFromBackend || !reactions.contains { $0.rule.isBackend }
            ? reactions : reactions.filter { !$0.rule.isBackend }
    }

    /// Why an event would be refused, as far as that is known before its data; empty when nothing is known.
    ///
    /// The `requires` of the next screen count only when no action runs before the journey reaches it: an action may do
    /// just what they ask for.
    mutating func obstacles(to reaction: Reaction) throws(JourneyRefusal) -> [JSONViolation] {
        var obstacles: [JSONViolation] = []
        for transition in reaction.rule.transitions {
            var verdict = Verdict.holds
            if !transition.isUnconditional {
                let scope = try scope(of: reaction.coordinator)
                verdict = scope.test(transition)
                if verdict == .fails || verdict == .undecided {
                    obstacles += scope.reasons(against: transition)
                    if verdict == .undecided { break }
                    continue
                }
            }
            let ownObstacles = try self.obstacles(to: transition, of: reaction.coordinator)
            if ownObstacles.isEmpty { return [] }
            obstacles += ownObstacles
            // The transitions after this one would not be taken.
            if verdict == .holds { break }
        }
        return obstacles
    }

    private mutating func obstacles(
        to transition: Transition, of coordinator: Int
    ) throws(JourneyRefusal) -> [JSONViolation] {
        let flow = try flow(of: coordinator)
        var target: Frame?
        if let state = transition.target, flow.states[state].screen != nil {
            target = Frame(of: state, in: flow, coordinator)
        }
        if let verb = transition.nav, case .failure(let obstacle) = try move(by: verb, to: target) {
            return [obstacle.violation]
        }
        guard var target, transition.actions.isEmpty, transition.nav != .resume, let top = journey.frames.last,
            try self.screen(of: top).screen.exit.isEmpty
        else { return [] }
        do throws(JourneyRefusal) {
            target.params = try params(of: transition, coordinator)
        } catch {
            // They depend on the data of the event.
            return []
        }
        return try obstacles(to: target)
    }
}

extension DataScope {
    /// Why the data of the event, or the input of a command, breaks rules.
    ///
    /// - Parameter fits: whether it fits its schema.
    func violations(of rules: [FormRule], fits: Bool) -> [JSONViolation] {
        rules.flatMap { rule -> [JSONViolation] in
            let verdict = test(rule.guard)
            // Where data is missing or of another type, the schema has said so already.
            guard verdict == .fails || (verdict == .undecided && fits) else { return [] }
            return rule.violations(reasons(against: rule.guard), saying: said)
        }
    }
}
