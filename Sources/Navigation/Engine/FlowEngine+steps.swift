import JSONDocument

extension FlowEngine {
    /// A new journey, at its first screen.
    ///
    /// - Parameter version: nil takes the highest that is loaded.
    public func start(
        flow: String, version: Int? = nil, id: String, input: JSONDocument = .emptyObject,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        let definition = try definition(flow, version: version, for: input)
        var run = StepRun(self, Journey(id: id, flow: definition, now: now), services, now: now)
        try run.begin(definition, input: input)
        return try run.finish()
    }

    /// What an event does. `back` is one that every screen has, unless it says otherwise.
    ///
    /// - Parameter data: nil, no data, is taken as an empty object.
    public func send(
        _ event: String, data: JSONDocument? = nil, to journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        let renewal = renewal(of: journey)
        var run = StepRun(self, journey, services, now: now, event: .data(data ?? .emptyObject))
        if try !run.open(renewal) { try run.react(to: event) }
        return try run.finish()
    }

    /// The same, and what a client is shown then, for which nothing is looked up twice.
    ///
    /// - Parameters:
    ///   - memory: what guards said of the same documents before: see ``Step/memory``.
    ///   - shift: how much later the clock that people read is.
    /// - Returns: the step without what happened; no text when it changes services: what becomes of those is the caller's
    ///   to do first.
    package func sendAndShow(
        _ event: String, data: JSONDocument?, to journey: consuming Journey, services: any ServiceDocuments,
        now: Int64, knowing memory: GuardMemory, timesMovedBy shift: Int64
    ) throws(JourneyRefusal) -> (step: Step, text: ViewText?) {
        let renewal = renewal(of: journey)
        var run = StepRun(
            self, journey, services, now: now, event: .data(data ?? .emptyObject), knowing: memory)
        run.isWatched = false
        if try !run.open(renewal) { try run.react(to: event) }
        try run.conclude()
        guard run.services.changes.isEmpty else { return (run.step(), nil) }
        run.event = .unknown
        let text = try run.text(timesMovedBy: shift)
        return (run.step(), text)
    }

    /// Releases the whole stack and every coordinator, children first, and begins anew, maybe with another flow. Works
    /// on journeys that are over, too.
    ///
    /// An `exit` that does not succeed is left out, as when a journey is abandoned.
    public func restart(
        _ journey: Journey, flow: String, version: Int? = nil, input: JSONDocument = .emptyObject,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        let definition = try definition(flow, version: version, for: input)
        var run = StepRun(self, journey, services, now: now)
        try run.giveUp()
        try run.begin(definition, input: input)
        return try run.finish()
    }

    /// Gives the journey up: children first, then the stack. The caller forgets it.
    ///
    /// Cannot be refused. An `exit` that does not succeed is left out, and so is one that would make a service invalid.
    public func abandon(_ journey: Journey, services: any ServiceDocuments, now: Int64) -> Step {
        var run = StepRun(self, journey, services, now: now)
        do throws(JourneyRefusal) {
            try run.giveUp()
            run.record(.abandoned)
            return try run.finish()
        } catch {
            return Step(journey: run.journey, changes: [], happenings: [.abandoned])
        }
    }

    /// Whether ``advance(_:services:now:)`` has something to do. Costs next to nothing: ask before each look.
    public func isDue(_ journey: Journey, now: Int64) -> Bool {
        guard journey.isActive else { return false }
        if let dueAt = journey.dueAt, now >= dueAt { return true }
        guard !isLoaded(journey) else { return false }
        switch renewal(of: journey) {
        case .migrate, .restart: return true
        case .none, .orphaned: return false
        }
    }

    /// What time and new versions have done to the journey: it has expired, its screen's time is over, a child's time
    /// is over, or its version is gone. Nil when nothing.
    ///
    /// A timeout whose transition is refused ends the journey: it could not go on otherwise.
    ///
    /// - Throws: ``JourneyRefusal/orphaned(flow:version:)``, and what starting over is refused with.
    public func advance(
        _ journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step? {
        guard isDue(journey, now: now) else { return nil }
        var run = StepRun(self, journey, services, now: now)
        if !isLoaded(journey) {
            switch renewal(of: journey) {
            case .none: break
            case .orphaned(let flow, let version): throw .orphaned(flow: flow, version: version)
            case .migrate(let moves): try run.migrate(moves)
            case .restart(let definition):
                try run.startOver(definition)
                return try run.finish()
            }
        }
        let start = run
        let mark = run.services.mark
        do throws(JourneyRefusal) {
            try run.catchUp(to: now)
            return try run.finish()
        } catch {
            run = start
            run.services.rewind(to: mark)
            try run.expireJourney()
            return try run.finish()
        }
    }

    func definition(
        _ flow: String, version: Int?, for input: JSONDocument
    ) throws(JourneyRefusal) -> FlowDefinition {
        guard let definition = catalog.flow(flow, version: version) else { throw .unknownFlow(flow, version: version) }
        let violations = definition.violations(in: input)
        guard violations.isEmpty else { throw .inputInvalid(flow: flow, violations) }
        return definition
    }
}

extension StepRun {
    /// Begins a step on a journey that goes on: what a newer version wants of it is done first.
    ///
    /// - Parameter renewal: what that is, of the journey as it is kept.
    /// - Returns: whether the journey was started over, so that nothing else is to be done with it.
    mutating func open(_ renewal: Renewal) throws(JourneyRefusal) -> Bool {
        switch journey.status {
        case .finished: throw .finished(outcome: journey.outcome)
        case .expired: throw .expired
        case .active: break
        }
        guard journey.dueAt.map({ now < $0 }) ?? true else { throw .due }
        journey.movedAt = now
        switch renewal {
        case .none: return false
        case .orphaned(let flow, let version): throw .orphaned(flow: flow, version: version)
        case .migrate(let moves):
            try migrate(moves)
            return false
        case .restart(let definition):
            try startOver(definition)
            return true
        }
    }

    mutating func react(to event: String) throws(JourneyRefusal) {
        if event == "back" {
            guard try goBack() else { throw .eventNotAccepted(event: event, accepted: try accepted()) }
            return
        }
        guard let reaction = try reaction(to: event) else {
            throw .eventNotAccepted(event: event, accepted: try accepted())
        }
        if let shape = try shape(of: reaction), case .data(let data) = self.event, !shape.accepts(data) {
            throw .eventDataInvalid(shape.violations(in: data))
        }
        guard let transition = try choose(reaction.rule.transitions, of: reaction.coordinator) else {
            let flow = try flow(of: reaction.coordinator)
            let scope = scope(of: reaction.coordinator)
            throw .guardNotMet(
                reaction.rule.transitions.compactMap(\.guard).flatMap { scope.reasons(against: $0, in: flow) })
        }
        try take(transition, of: reaction.coordinator)
    }

    /// What could be sent now. What depends on data that an event brings is taken to be possible.
    private func accepted() throws(JourneyRefusal) -> [String] {
        var run = self
        run.event = .unknown
        var accepted: [String] = []
        for reaction in try run.reactions() {
            if try run.obstacles(to: reaction).isEmpty { accepted.append(reaction.rule.event) }
        }
        if try run.canGoBack() { accepted.append("back") }
        return accepted
    }

    /// The journey's own flow starts.
    mutating func begin(_ flow: FlowDefinition, input: JSONDocument) throws(JourneyRefusal) {
        journey = Journey(id: journey.id, flow: flow, now: now, step: journey.step)
        journey.coordinators = [
            Coordinator(
                id: 0, flow: flow.id, version: flow.version, parent: nil, startedBy: nil, input: input, startedAt: now)
        ]
        engine.catalog.tellPlaces(to: &journey)
        record(.started(flow: flow.id, version: flow.version))
        try run(flow.entry, of: 0)
        let hasArrived = try go(.push, to: flow.initial, of: 0)
        try settle(isDirected: hasArrived)
    }

    /// Everything is released; what cannot be done on the way is left out.
    fileprivate mutating func giveUp() throws(JourneyRefusal) {
        guard journey.isActive else { return }
        isLenient = true
        try leaveScreen()
        try releaseAll()
        journey.status = .finished
        journey.outcome = ChildFlow.abandoned
        isLenient = false
    }

    /// A new version begins at its beginning, with the input that the journey was given. Nothing of the old one ends
    /// as it would have: the services are kept.
    mutating func startOver(_ flow: FlowDefinition) throws(JourneyRefusal) {
        let input = journey.coordinators.first?.input ?? .emptyObject
        if let rule = flow.input, !rule.accepts(input) {
            throw .inputInvalid(flow: flow.id, rule.violations(in: input))
        }
        hasLeft = true
        record(.migrated(flow: flow.id, from: journey.version, to: flow.version))
        event = .none
        try begin(flow, input: input)
    }
}
