import JSONDocument

/// A step in the making: a copy of the journey, which becomes the next journey when nothing is refused.
///
/// Many of its functions are `mutating` though they change nothing: calling a non-mutating one in a mutating one would
/// copy the whole value.
struct StepRun {
    let engine: FlowEngine
    let services: StepServices
    var journey: Journey
    /// The time of the step; for what a timeout does, the time when it was due.
    var now: Int64
    var event: DataScope.EventData
    /// The output of the child that has just ended, until the journey reaches the next screen.
    var output: JSONDocument?
    private(set) var trace: [TraceEvent] = []
    /// Whether the caller reads the trace.
    var isTraced = true

    /// Whether the `exit` of the top screen has run, so that a screen must be entered at the end.
    var hasLeft = false
    /// Whether the top frame was on the stack before and has been uncovered.
    var isUncovered = false
    /// The coordinators that lost a frame.
    var losers: [Int] = []
    /// Whether a back end sends the event: some events are for them only.
    var isFromBackend = false
    /// The patches of migrations that have changed the session's services.
    var patches: [ServicePatch] = []
    /// Whether actions that fail are skipped; see ``FlowEngine/abandon(_:services:now:)``.
    var isLenient = false
    /// Whether a link leads the journey: it takes no transition that does damage.
    var isLink = false
    /// Whether the journey goes forward to a screen: see ``resume(to:of:)``.
    var isResuming = false
    /// Whether frames leave because their `requires` do not hold.
    var isClosing = false
    /// How often standing rules have moved the journey.
    var automaticMoves = 0

    /// The top frame when the step began, or when a screen was last entered.
    private var before: Frame?

    /// Flows within flows within flows: no sensible journey is ten deep.
    static let maximumCoordinators = 256

    /// A user who goes round in circles makes a stack of more frames; a journey is stored with each step.
    static let maximumFrames = 16_384
}

extension StepRun {
    // Uses the memberwise initializer: a large value that is made member by member is copied once more.
    init(
        _ engine: FlowEngine, _ journey: consuming Journey, _ services: any ServiceDocuments, now: Int64,
        event: DataScope.EventData = .none, knowing memory: GuardMemory = GuardMemory()
    ) {
        // Without coordinators, every use of the journey is refused as orphaned.
        if !journey.isSound { journey.coordinators = [] }
        engine.catalog.tellPlaces(to: &journey)
        let before = journey.frames.last
        self.init(
            engine: engine, services: StepServices(services, knowing: memory, owned: journey.owned, now: now),
            journey: journey, now: now,
            event: event, before: before)
    }

    mutating func record(_ event: TraceEvent) {
        guard isTraced else { return }
        trace.append(event)
        engine.catalog.recorder?(event)
    }

    private mutating func record(_ change: ServiceChange) {
        switch change.effect {
        case .written: record(.serviceChanged(change.service))
        case .cleared: record(.serviceCleared(change.service))
        case .removed: record(.serviceRemoved(change.service))
        }
    }

    /// The flow that a coordinator runs.
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
        guard let screen = flow.screen(of: frame) else { throw .orphaned(flow: flow.id, version: flow.version) }
        return screen
    }

    /// The data that guards and actions of a coordinator's flow see.
    mutating func scope(of coordinator: Int) throws(JourneyRefusal) -> DataScope {
        try scope(of: coordinator, with: journey.frames.last?.params)
    }

    /// - Parameter params: of the frame that is looked at.
    mutating func scope(of coordinator: Int, with params: JSONDocument?) throws(JourneyRefusal) -> DataScope {
        let flow = try flow(of: coordinator)
        let input = journey.coordinators.place(of: coordinator).map { journey.coordinators[$0].input } ?? .emptyObject
        return DataScope(
            flow: flow, services: services, owners: try owners(of: coordinator), event: event, input: input,
            output: output, frame: params, now: now)
    }

    /// Which services the coordinators own that a coordinator sees: its own ones first.
    mutating func owners(of coordinator: Int) throws(JourneyRefusal) -> ServiceOwners {
        var owners = ServiceOwners()
        guard engine.catalog.ownsServices else { return owners }
        var next: Int? = coordinator
        while let id = next, let place = journey.coordinators.place(of: id) {
            let flow = try flow(of: id)
            let names = flow.ownership.services
            if !names.isEmpty { owners.levels.append(.init(coordinator: id, flow: flow.id, names: names)) }
            next = journey.coordinators[place].parent
        }
        return owners
    }

    /// Ends the step and returns its result.
    mutating func finish() throws(JourneyRefusal) -> Step {
        try conclude()
        return step()
    }

    /// The step that ``conclude()`` ended.
    consuming func step() -> Step {
        Step(
            journey: journey, changes: services.changes, trace: trace, patches: patches, memory: services.memory)
    }

    /// Enters the screen that is on top now, moves on where it may not stay, checks the changed services and sets the
    /// deadlines.
    mutating func conclude() throws(JourneyRefusal) {
        try arrive()
        try stand()
        let changes = services.changes
        let ownedChanges = services.ownedChanges
        if !changes.isEmpty || !ownedChanges.isEmpty, let invalid = services.invalid {
            throw .serviceInvalid(service: invalid.service, invalid.violations)
        }
        for change in changes { record(change) }
        if !ownedChanges.isEmpty {
            for change in ownedChanges { record(change) }
            services.completeOwned()
            journey.owned = services.owned
        }
        journey.step += 1
        if journey.task != nil { numberTask() }
        engine.catalog.tellPlaces(to: &journey)
        try setDeadlines()
    }

    /// Enters the top screen when it is another one than before, or was left on the way.
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

    /// Takes a new name of the top screen as the old one: the screen is neither left nor entered.
    mutating func renameScreen() { before = journey.frames.last }

    private mutating func enter(_ frame: Frame) throws(JourneyRefusal) {
        let screen = try screen(of: frame)
        let obstacles = try obstacles(to: screen, of: frame.coordinator, with: frame.params)
        guard obstacles.isEmpty else { throw .guardNotMet(obstacles) }
        output = nil
        try run(screen.screen.entry, of: frame.coordinator)
    }

    /// Whether the `requires` of a screen hold.
    ///
    /// - Parameter params: of its frame.
    mutating func isOpen(
        _ screen: PreparedScreen, of coordinator: Int, with params: JSONDocument?
    ) throws(JourneyRefusal) -> Bool {
        if screen.requires.guards.isEmpty { return true }
        let owners = try owners(of: coordinator)
        return try services.meet(screen.requires, seenBy: owners) { () throws(JourneyRefusal) in
            try scope(of: coordinator, with: params)
        }
    }

    /// Whether the `requires` of a frame's screen hold. A screen that is not in the file any more is never open: going
    /// back passes over it.
    mutating func isOpen(_ frame: Frame) throws(JourneyRefusal) -> Bool {
        guard let screen = try flow(of: frame.coordinator).screen(of: frame) else { return false }
        return try isOpen(screen, of: frame.coordinator, with: frame.params)
    }

    /// Why the journey may not be on a screen; empty when it may.
    mutating func obstacles(
        to screen: PreparedScreen, of coordinator: Int, with params: JSONDocument?
    ) throws(JourneyRefusal) -> [JSONViolation] {
        if try isOpen(screen, of: coordinator, with: params) { return [] }
        return try scope(of: coordinator, with: params).obstacles(to: screen.requires)
    }

    /// Runs the `exit` of the top screen, once until another screen is entered.
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
