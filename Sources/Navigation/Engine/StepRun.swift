import JSONDocument

/// A step in the making: a copy of the journey that becomes the next one when nothing is refused.
struct StepRun {
    let engine: FlowEngine
    let services: StepServices
    var journey: Journey
    /// When the step happens; for what time brought about, when it was due.
    var now: Int64
    var event: DataScope.EventData
    /// What the child that has just ended handed back, until the next screen is come to.
    var output: JSONDocument?
    private(set) var happenings: [Happening] = []
    /// Whether anybody wants to know of them.
    var isWatched = true
    /// The transitions that are taken, by flow and place in its file; nil while nobody wants to know.
    var trace: [TakenTransition]?

    /// Whether the screen that was looked at has been left, and a screen has to be entered in the end.
    var hasLeft = false
    /// Whether the top frame is one that was there before, and shows itself again.
    var isUncovered = false
    /// The coordinators that lost a frame.
    var losers: [Int] = []
    /// What cannot be done when a flow ends is left out; see ``FlowEngine/abandon(_:services:now:)``.
    var isLenient = false

    /// The screen that was looked at before.
    private var before: Frame?
}

extension StepRun {
    // By way of the memberwise one: a value as large as this that is made member by member is copied when it is whole.
    init(
        _ engine: FlowEngine, _ journey: consuming Journey, _ services: any ServiceDocuments, now: Int64,
        event: DataScope.EventData = .none, knowing memory: GuardMemory = GuardMemory()
    ) {
        // What refers to a coordinator that is not there is refused as orphaned.
        if !journey.isSound { journey.coordinators = [] }
        engine.catalog.tellPlaces(to: &journey)
        let before = journey.frames.last
        self.init(
            engine: engine, services: StepServices(services, knowing: memory), journey: journey, now: now,
            event: event, before: before)
    }

    mutating func record(_ happening: Happening) {
        if isWatched { happenings.append(happening) }
    }

    /// The flow that a coordinator runs.
    ///
    /// Like some others it is `mutating` though it changes nothing: who changes the run would hand the others a copy of it.
    mutating func flow(of coordinator: Int) throws(JourneyRefusal) -> FlowDefinition {
        guard let place = journey.coordinators.place(of: coordinator) else {
            throw .orphaned(flow: journey.flow, version: journey.version)
        }
        guard let flow = engine.catalog.flow(of: journey.coordinators, at: place) else {
            let gone = journey.coordinators[place]
            throw .orphaned(flow: gone.flow, version: gone.version)
        }
        return flow
    }

    mutating func screen(of frame: Frame) throws(JourneyRefusal) -> PreparedScreen {
        let flow = try flow(of: frame.coordinator)
        guard let screen = flow.screen(of: frame) else {
            throw .orphaned(flow: flow.id, version: flow.version)
        }
        return screen
    }

    func scope(of coordinator: Int) -> DataScope {
        let input = journey.place(of: coordinator).map { journey.coordinators[$0].input } ?? .emptyObject
        return DataScope(
            services: services, event: event, input: input,
            output: output, now: now)
    }

    /// Does what comes at the end of every step and hands it over.
    mutating func finish() throws(JourneyRefusal) -> Step {
        try conclude()
        return step()
    }

    /// The step that was concluded.
    func step() -> Step {
        Step(journey: journey, changes: services.changes, happenings: happenings, memory: services.memory)
    }

    /// Does what comes at the end of every step.
    mutating func conclude() throws(JourneyRefusal) {
        try arrive()
        let changes = services.changes
        if !changes.isEmpty, let invalid = services.invalid {
            throw .serviceInvalid(service: invalid.service, invalid.violations)
        }
        for change in changes {
            switch change.effect {
            case .written: record(.serviceChanged(change.service))
            case .cleared: record(.serviceCleared(change.service))
            case .removed: record(.serviceRemoved(change.service))
            }
        }
        journey.step += 1
        engine.catalog.tellPlaces(to: &journey)
        try setDeadlines()
    }

    /// When another screen is looked at than before, or it was left and is come back to: enters it.
    mutating func arrive() throws(JourneyRefusal) {
        let after = journey.frames.last
        guard hasLeft || before != after else { return }
        if let after { try enter(after) }
        journey.enteredAt = now
        record(.moved(from: before?.state, to: after?.state))
        before = after
        hasLeft = false
        isUncovered = false
        losers.removeAll()
    }

    /// The screen that was looked at has got another name: it was neither left nor entered.
    mutating func renameScreen() { before = journey.frames.last }

    private mutating func enter(_ frame: Frame) throws(JourneyRefusal) {
        let screen = try screen(of: frame)
        let reasons = try unmet(screen, of: frame.coordinator)
        guard reasons.isEmpty else { throw .guardNotMet(reasons) }
        output = nil
        try run(screen.screen.entry, of: frame.coordinator)
    }

    /// Whether what a screen requires holds.
    mutating func isOpen(_ screen: PreparedScreen, of coordinator: Int) throws(JourneyRefusal) -> Bool {
        if let needs = screen.needs { return services.fit(needs) }
        let flow = try flow(of: coordinator)
        let scope = scope(of: coordinator)
        return screen.screen.requires.allSatisfy { scope.test($0, in: flow) == .holds }
    }

    /// Why one may not be on a screen; empty when one may.
    mutating func unmet(_ screen: PreparedScreen, of coordinator: Int) throws(JourneyRefusal) -> [JSONViolation] {
        if try isOpen(screen, of: coordinator) { return [] }
        let flow = try flow(of: coordinator)
        let scope = scope(of: coordinator)
        return screen.screen.requires.filter { scope.test($0, in: flow) != .holds }
            .flatMap { guardian -> [JSONViolation] in
                let reasons = scope.reasons(against: guardian, in: flow)
                return reasons.isEmpty ? [JSONViolation(pointer: "", detail: "is not known yet")] : reasons
            }
    }

    /// The `exit` of the screen that is looked at; once a step.
    mutating func leaveScreen() throws(JourneyRefusal) {
        guard !hasLeft, let top = journey.frames.last else { return }
        hasLeft = true
        do {
            try run(try screen(of: top).screen.exit, of: top.coordinator)
        } catch {
            guard isLenient else { throw error }
        }
    }
}
