import JSONDocument

extension FlowEngine {
    /// Starts a new journey and moves it to its first screen.
    ///
    /// - Parameter version: nil takes the highest version that is loaded.
    public func start(
        flow: String, version: Int? = nil, id: String, input: JSONDocument = .emptyObject,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        let definition = try definition(flow, version: version, for: input)
        var run = StepRun(self, Journey(id: id, flow: definition, now: now), services, now: now)
        try run.begin(definition, input: input)
        return try run.finish()
    }

    /// Sends an event to a journey. Every screen accepts the event `back`, unless its `back` forbids that.
    ///
    /// - Parameters:
    ///   - data: nil is taken as an empty object; with `back`, only data runs what reads it (``Screen/onBack``).
    ///   - isFromBackend: whether the events that `backend` names are accepted, too.
    public func send(
        _ event: String, data: JSONDocument? = nil, to journey: Journey, isFromBackend: Bool = false,
        services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        let renewal = renewal(of: journey)
        var run = StepRun(
            self, journey, services, now: now, event: .data(data ?? .emptyObject),
            of: isFromBackend ? .backend : .client)
        if try !run.open(renewal) { try run.react(to: event, hasData: data != nil) }
        return try run.finish()
    }

    /// Sends an event and writes the view of the result, without looking anything up twice.
    ///
    /// - Parameters:
    ///   - isFromBackend: whether the events that `backend` names are accepted, too.
    ///   - challenge: what a task that the step begins keeps.
    ///   - memory: the verdicts of guards on the same documents: see ``Step/memory``.
    ///   - shift: is added to the times in the view; milliseconds.
    /// - Returns: the step, without what it took; no view when the step changes services, because the caller applies
    ///   these first.
    package func sendAndShow(
        _ event: String, data: JSONDocument?, to journey: consuming Journey, isFromBackend: Bool = false,
        challenge: String? = nil, services: any ServiceDocuments, now: Int64, knowing memory: GuardMemory,
        timesMovedBy shift: Int64
    ) throws(JourneyRefusal) -> (step: Step, text: ViewText?) {
        let renewal = renewal(of: journey)
        var run = StepRun(
            self, journey, services, now: now, event: .data(data ?? .emptyObject),
            of: isFromBackend ? .backend : .client, knowing: memory)
        run.isTraced = catalog.recorder != nil
        if try !run.open(renewal) { try run.react(to: event, hasData: data != nil) }
        try run.conclude()
        if let challenge { run.journey.keepChallenge(challenge) }
        guard !run.services.isChanged else { return (run.step(), nil) }
        run.event = .unknown
        run.purpose = .event(.client)
        let text = try run.view(timesMovedBy: shift)
        return (run.step(), text)
    }

    /// Starts a journey over, maybe with another flow. The whole stack is removed and every coordinator released first,
    /// children before parents. A journey that is over can start over, too.
    ///
    /// An `exit` that fails is skipped, as when a journey is abandoned.
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

    /// Gives a journey up: releases children first, then the stack. The caller deletes the journey.
    ///
    /// Never refused. An `exit` that fails, or would make a service invalid, is skipped.
    public func abandon(_ journey: Journey, services: any ServiceDocuments, now: Int64) -> Step {
        var run = StepRun(self, journey, services, now: now)
        do throws(JourneyRefusal) {
            try run.giveUp()
            return try run.finish()
        } catch {
            return Step(journey: run.journey, changes: [])
        }
    }

    /// Whether ``advance(_:services:now:beforeEvent:)`` has something to do because of the time or of a version that is
    /// gone. Cheap enough to ask before each read. What services bring about shows when the journey is looked at: the
    /// view and the events throw ``JourneyRefusal/due``.
    public func isDue(_ journey: Journey, now: Int64) -> Bool {
        guard journey.isActive else { return false }
        if let dueAt = journey.dueAt, now >= dueAt { return true }
        guard !isLoaded(journey) else { return false }
        switch renewal(of: journey) {
        case .migrate, .restart: return true
        case .none, .orphaned: return false
        }
    }

    /// Applies timers, the timeouts of the journey, of its children and of its screen, the policy for a version that is
    /// gone, and the standing rules: `requires` that do not hold any more, and `always`.
    ///
    /// A timeout whose transition is refused expires the journey, which could not go on otherwise. A timer, an
    /// `otherwise` or an `always` that is refused is not taken. A step that only determines anew when the journey is
    /// due has the number of the journey.
    ///
    /// - Parameter beforeEvent: whether an event follows, so that the journey goes to a newer version first.
    /// - Returns: nil when nothing is due.
    /// - Throws: ``JourneyRefusal/orphaned(flow:version:)``, and the refusals of starting over.
    public func advance(
        _ journey: Journey, services: any ServiceDocuments, now: Int64, beforeEvent: Bool = false
    ) throws(JourneyRefusal) -> Step? {
        guard journey.isActive else { return nil }
        var isLate = journey.dueAt.map { now >= $0 } ?? false
        var isMigrated = false
        var run = StepRun(self, journey, services, now: now)
        run.isLook = true
        if beforeEvent || !isLoaded(journey) {
            let renewal = renewal(of: journey)
            if try run.renew(renewal) { return try run.finish() }
            if case .migrate = renewal { isMigrated = true }
        }
        let start = run
        let mark = run.services.mark
        do throws(JourneyRefusal) {
            if !isLate { isLate = try run.isOverdue() }
            if isLate { try run.catchUp(to: now) }
            run.now = now
            (run.services.work, run.services.overwork) = (ListWork(), nil)
            try run.stand()
            if isMigrated || run.hasActedByTime || run.automaticMoves > 0 { return try run.finish() }
            // Nothing has happened that anybody sees: only the time is set at which something will.
            if !isLate, try !run.isMisdated() { return nil }
            try run.setDeadlines()
            return run.step()
        } catch {
            if !isLate, case .orphaned = error { throw error }
            run = start
            run.services.rewind(to: mark)
            try run.expireJourney()
            return try run.finish()
        }
    }

    /// The journey after a service was written from outside, if it is due at another time because of that; nil when it
    /// is not, and when its flows cannot say.
    package func redated(_ journey: Journey, services: any ServiceDocuments, now: Int64) -> Journey? {
        guard catalog.isClocked, journey.isActive else { return nil }
        var run = StepRun(self, journey, services, now: now)
        do throws(JourneyRefusal) {
            guard try run.isClocked() else { return nil }
            try run.setDeadlines()
            // What the write has brought about happens at once.
            if try run.hasToMove() { run.journey.dueAt = earlier(run.journey.dueAt, now) }
        } catch {
            return nil
        }
        return run.journey.dueAt == journey.dueAt ? nil : run.journey
    }

    /// - Throws: ``JourneyRefusal/inputInvalid(flow:_:)`` for input from a client to a flow that declares none, which
    ///   would ignore it.
    package func checkIsDeclared(_ input: JSONDocument, of flow: String, version: Int?) throws(JourneyRefusal) {
        guard input != .emptyObject, let flow = catalog.flow(flow, version: version), flow.input == nil else { return }
        throw .inputInvalid(
            flow: flow.id, [JSONViolation(pointer: "", detail: "must be left out, because the flow declares no input")])
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
    /// Begins a step on a journey that is active. Moves it to a newer version first, where that is due.
    ///
    /// - Parameter renewal: of the journey as it is stored.
    /// - Returns: whether the journey was started over, so that the step is complete.
    mutating func open(_ renewal: Renewal) throws(JourneyRefusal) -> Bool {
        switch journey.status {
        case .finished: throw .finished(outcome: journey.outcome)
        case .expired: throw .expired
        case .active: break
        }
        guard journey.dueAt.map({ now < $0 }) ?? true else { throw .due }
        journey.movedAt = now
        if try renew(renewal) { return true }
        if try hasToMove() { throw .due }
        try checkWork()
        return false
    }

    /// Moves the journey to a newer version, where that is due.
    ///
    /// - Returns: whether the journey was started over, so that the step is complete.
    @discardableResult
    mutating func renew(_ renewal: Renewal) throws(JourneyRefusal) -> Bool {
        switch renewal {
        case .none: break
        case .orphaned(let flow, let version): throw .orphaned(flow: flow, version: version)
        case .migrate(let moves): try migrate(moves)
        case .restart(let definition):
            try startOver(definition)
            return true
        }
        return false
    }

    /// Starts the journey's own flow.
    mutating func begin(_ flow: FlowDefinition, input: JSONDocument) throws(JourneyRefusal) {
        journey = Journey(id: journey.id, flow: flow, now: now, step: journey.step)
        said = nil
        journey.owned = services.owned
        journey.coordinators = [
            Coordinator(
                id: 0, flow: flow.id, version: flow.version, parent: nil, startedBy: nil, input: input, startedAt: now)
        ]
        forgetFlow(of: nil)
        try run(flow.entry, of: 0)
        let isDirected = try go(.push, to: flow.initial, of: 0)
        try settle(isDirected: isDirected)
    }

    /// Releases everything; actions that fail are skipped.
    fileprivate mutating func giveUp() throws(JourneyRefusal) {
        guard journey.isActive else { return }
        purpose = .release(isClosing: false)
        try leaveScreen()
        try releaseAll()
        // The journey that may begin now is not less than others.
        (services.work, services.overwork) = (ListWork(), nil)
        journey.status = .finished
        journey.outcome = ChildFlow.abandoned
        purpose = .event(.client)
    }

    /// Starts a new version from its initial state, with the input of the journey. No `exit` of the old version runs,
    /// so the services keep their state.
    mutating func startOver(_ flow: FlowDefinition) throws(JourneyRefusal) {
        let input = journey.input
        if let rule = flow.input, !rule.accepts(input) {
            throw .inputInvalid(flow: flow.id, rule.violations(in: input))
        }
        hasLeft = true
        event = .none
        services.dispose { $0.coordinator != 0 || !flow.ownership.services.contains($0.name) }
        try begin(flow, input: input)
    }
}
