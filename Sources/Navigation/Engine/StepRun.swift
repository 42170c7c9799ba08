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
    var happenings: [Happening] = []
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
    private var definitions: [(id: Int, flow: FlowDefinition)] = []
    /// Most of what is asked about screens is about one and the same.
    private var lastScreen: Screen?
    /// The frame of it.
    private var lastScreenFrame = (coordinator: 0, state: "")
}

extension StepRun {
    // By way of the memberwise one: a value as large as this that is made member by member is copied when it is whole.
    init(
        _ engine: FlowEngine, _ journey: consuming Journey, _ services: any ServiceDocuments, now: Int64,
        event: DataScope.EventData = .none, knowing memory: GuardMemory = GuardMemory()
    ) {
        // What refers to a coordinator that is not there is refused as orphaned.
        if !journey.isSound { journey.coordinators = [] }
        let before = journey.frames.last
        self.init(
            engine: engine, services: StepServices(services, knowing: memory), journey: journey, now: now,
            event: event, before: before)
    }

    /// The flow that a coordinator runs.
    mutating func flow(of coordinator: Int) throws(JourneyRefusal) -> FlowDefinition {
        for place in definitions.indices where definitions[place].id == coordinator { return definitions[place].flow }
        guard let place = journey.place(of: coordinator) else {
            throw .orphaned(flow: journey.flow, version: journey.version)
        }
        guard let flow = engine.catalog.flow(of: journey.coordinators[place]) else {
            let gone = journey.coordinators[place]
            throw .orphaned(flow: gone.flow, version: gone.version)
        }
        definitions.append((coordinator, flow))
        return flow
    }

    mutating func forgetFlow(of coordinator: Int) {
        definitions.removeAll { $0.id == coordinator }
        lastScreen = nil
    }

    mutating func screen(of frame: Frame) throws(JourneyRefusal) -> Screen {
        if let lastScreen, lastScreenFrame.coordinator == frame.coordinator, lastScreenFrame.state == frame.state {
            return lastScreen
        }
        let flow = try flow(of: frame.coordinator)
        guard let screen = flow.screen(of: frame) else {
            throw .orphaned(flow: flow.id, version: flow.version)
        }
        lastScreen = screen
        lastScreenFrame = (frame.coordinator, frame.state)
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
        try arrive()
        if let invalid = services.invalid {
            throw .serviceInvalid(service: invalid.service, invalid.violations)
        }
        for change in services.changes {
            switch change.effect {
            case .written: happenings.append(.serviceChanged(change.service))
            case .cleared: happenings.append(.serviceCleared(change.service))
            case .removed: happenings.append(.serviceRemoved(change.service))
            }
        }
        journey.step += 1
        engine.catalog.tellPlaces(to: &journey)
        try setDeadlines()
        return Step(
            journey: journey, changes: services.changes, happenings: happenings, memory: services.memory)
    }

    /// When another screen is looked at than before, or it was left and is come back to: enters it.
    mutating func arrive() throws(JourneyRefusal) {
        let after = journey.frames.last
        guard hasLeft || before != after else { return }
        if let after { try enter(after) }
        journey.enteredAt = now
        happenings.append(.moved(from: before?.state, to: after?.state))
        before = after
        hasLeft = false
        isUncovered = false
        losers.removeAll()
    }

    /// The screen that was looked at has got another name: it was neither left nor entered.
    mutating func renameScreen() { before = journey.frames.last }

    private mutating func enter(_ frame: Frame) throws(JourneyRefusal) {
        let screen = try screen(of: frame)
        let reasons = try unmet(screen.requires, of: frame.coordinator)
        guard reasons.isEmpty else { throw .guardNotMet(reasons) }
        output = nil
        try run(screen.entry, of: frame.coordinator)
    }

    /// Why one may not be on a screen; empty when one may.
    mutating func unmet(_ requires: [Guard], of coordinator: Int) throws(JourneyRefusal) -> [JSONViolation] {
        guard !requires.isEmpty else { return [] }
        let flow = try flow(of: coordinator)
        let scope = scope(of: coordinator)
        if requires.allSatisfy({ scope.test($0, in: flow) == .holds }) { return [] }
        return requires.filter { scope.test($0, in: flow) != .holds }
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
            try run(try screen(of: top).exit, of: top.coordinator)
        } catch {
            guard isLenient else { throw error }
        }
    }
}
