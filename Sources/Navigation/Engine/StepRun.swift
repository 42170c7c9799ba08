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
    var purpose: Purpose
    var event: DataScope.EventData
    /// The output of the child that has just ended, until the journey reaches the next screen.
    var output: JSONDocument?
    private(set) var taken: [TakenTransition] = []
    /// Whether the caller wants to know what was taken.
    var isTraced = true

    /// Whether the `exit` of the top screen has run, so that a screen must be entered at the end.
    var hasLeft = false
    /// Whether the top frame was on the stack before and has been uncovered.
    var isUncovered = false
    /// Whether a child has ended since the top screen was entered.
    var hasEnded = false
    /// The flows of coordinators, as far as they were looked up.
    private var flows: [(coordinator: Int, flow: FlowDefinition)] = []
    /// The coordinators that lost a frame.
    var losers: [Int] = []
    /// The patches of migrations that have changed the session's services.
    var patches: [ServicePatch] = []
    /// Whether the step follows what has happened outside: the end of a task, or an event of a back end. That is not
    /// refused because the screen that it leads to is closed: the standing rules lead on from there.
    var isFact = false
    /// Whether a link only goes back, and so does what the person could do.
    var isGoingBack = false
    /// How often standing rules have moved the journey.
    var automaticMoves = 0
    /// What the last transition that the step has taken tells the person; nil for nothing.
    var said: SaidText?
    /// Whether a timer was taken, or the time of a flow was over.
    var hasActedByTime = false
    /// Whether nobody has sent anything, so that the journey stays where it is where an event would be refused.
    var isLook = false

    /// What the step is doing.
    enum Purpose {
        /// Follows an event, which some senders may not send, and what it brings about.
        case event(Actor)
        /// Follows a link, which takes no transition that does damage, unless an operator follows it.
        case link(isByOperator: Bool)
        /// Follows a link forward to a screen: see ``resume(to:by:of:)``. A parent may ask for that when its child is
        /// released, and then `releasing` says whether flows are closed.
        case resume(releasing: Bool?)
        /// Ends flows, because they are given up or, with `isClosing`, because the `requires` of their screens do not
        /// hold. Actions that fail are skipped.
        case release(isClosing: Bool)
    }

    /// Who sends an event.
    enum Actor {
        case client, backend
    }

    var isFromBackend: Bool { if case .event(.backend) = purpose { true } else { false } }
    var isByOperator: Bool { if case .link(true) = purpose { true } else { false } }
    var isResuming: Bool { if case .resume = purpose { true } else { false } }
    var isLenient: Bool { isClosing != nil }
    /// While flows are released, whether because the `requires` of their screens do not hold.
    var isClosing: Bool? {
        switch purpose {
        case .release(let isClosing): isClosing
        case .resume(let releasing): releasing
        case .event, .link: nil
        }
    }

    /// The top frame when the step began, or when a screen was last entered.
    var before: Frame?

    /// Flows within flows within flows: no sensible journey is ten deep.
    static let maximumCoordinators = 256

    /// A user who goes round in circles makes a stack of more frames; a journey is stored with each step.
    static let maximumFrames = 16_384
}

extension StepRun {
    // Uses the memberwise initializer: a large value that is made member by member is copied once more.
    init(
        _ engine: FlowEngine, _ journey: consuming Journey, _ services: any ServiceDocuments, now: Int64,
        event: DataScope.EventData = .none, of actor: Actor = .client, knowing memory: GuardMemory = GuardMemory()
    ) {
        // A stored journey may come from another installation, and code that follows parents must not run in a circle.
        // Without coordinators, every use of the journey is refused as orphaned.
        if journey.flawOfCoordinators != nil { journey.coordinators = [] }
        let before = journey.frames.last
        self.init(
            engine: engine, services: StepServices(services, knowing: memory, owned: journey.owned, now: now),
            journey: journey, now: now, purpose: .event(actor), event: event, before: before)
    }

    /// Notes that a transition was taken.
    mutating func note(_ transition: Transition, of coordinator: Int) {
        guard isTraced, let running = journey.coordinator(coordinator) else { return }
        let taken = TakenTransition(flow: running.flow, version: running.version, place: transition.place)
        self.taken.append(taken)
        engine.catalog.recorder?(taken)
    }

    /// The flow that a coordinator runs.
    mutating func flow(of coordinator: Int) throws(JourneyRefusal) -> FlowDefinition {
        for place in flows.indices where flows[place].coordinator == coordinator { return flows[place].flow }
        guard let place = journey.coordinators.place(of: coordinator) else {
            throw .orphaned(flow: journey.flow, version: journey.version)
        }
        guard let flow = engine.catalog.flow(of: journey.coordinators, at: place) else {
            let gone = journey.coordinators[place]
            throw .orphaned(flow: gone.flow, version: gone.version)
        }
        flows.append((coordinator, flow))
        return flow
    }

    /// Forgets the flow of a coordinator that ends or goes on with another flow; with nil, of all.
    mutating func forgetFlow(of coordinator: Int?) {
        flows.removeAll { coordinator == nil || $0.coordinator == coordinator }
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
        let owners = owners(of: coordinator)
        return DataScope(
            definition: .flow(flow), services: services, owners: owners, event: event, input: input,
            output: output, frame: params, now: now)
    }

    mutating func owners(of coordinator: Int) -> ServiceOwners {
        engine.catalog.owners(of: coordinator, among: journey.coordinators)
    }

    /// Ends the step and returns its result.
    mutating func finish() throws(JourneyRefusal) -> Step {
        try conclude()
        return step()
    }

    /// The step that ``conclude()`` ended.
    consuming func step() -> Step {
        Step(
            journey: journey, changes: services.changes, ownedChanges: services.ownedChanges, taken: taken,
            patches: patches, sideTasks: services.sideTasks, memory: services.memory)
    }

    /// Enters the screen that is on top now, moves on where it may not stay, checks the changed services and sets the
    /// deadlines.
    mutating func conclude() throws(JourneyRefusal) {
        try arrive()
        // Also of a look: it may have begun a flow anew.
        if let overwork = services.overwork { throw .guardNotMet([overwork.reason]) }
        // What the step has done before says nothing about where the journey may be.
        services.work = ListWork()
        try stand()
        if services.isChanged, let invalid = services.invalid {
            throw .serviceInvalid(service: invalid.service, invalid.violations)
        }
        if !services.ownedChanges.isEmpty {
            services.completeOwned()
            journey.owned = services.owned
        }
        journey.step += 1
        if journey.message != said { journey.message = said }
        if journey.task != nil { numberTask() }
        if let top = journey.frames.indices.last, journey.frames[top].knownPlace < 0 {
            // So that later steps need not look it up.
            let place = try flow(of: journey.frames[top].coordinator).place(of: journey.frames[top])
            journey.frames[top].knownPlace = Int32(clamping: place ?? -1)
        }
        try setDeadlines()
    }

    /// Enters the top screen when it is another one than before, or was left on the way.
    mutating func arrive() throws(JourneyRefusal) {
        let after = journey.frames.last
        hasEnded = false
        guard hasLeft || before != after else { return }
        // A screen that was not entered is not left, either: no `exit` of it runs.
        hasLeft = if let after { try !enter(after) } else { false }
        journey.enteredAt = now
        if let timers = journey.timers { journey.timers = timers.forgetting(PassedTimer.ofScreen) }
        before = after
        isUncovered = false
        losers.removeAll()
    }

    /// - Returns: false when the screen is closed, and standing rules have to lead on: see ``isFact``.
    private mutating func enter(_ frame: Frame) throws(JourneyRefusal) -> Bool {
        let screen = try screen(of: frame)
        let obstacles = try obstacles(to: frame)
        output = nil
        guard obstacles.isEmpty else {
            guard isFact else { throw .guardNotMet(obstacles) }
            return false
        }
        try run(screen.screen.entry, of: frame.coordinator)
        return true
    }

    /// Whether the `requires` of a frame's screen hold. A screen that is not in the file any more is never open: going
    /// back passes over it.
    mutating func isOpen(_ frame: Frame) throws(JourneyRefusal) -> Bool {
        guard let screen = try flow(of: frame.coordinator).screen(of: frame) else { return false }
        if screen.requires.guards.isEmpty { return true }
        // Not the frame: the closure would copy it.
        let (coordinator, params) = (frame.coordinator, frame.params)
        let owners = owners(of: coordinator)
        return try services.meet(screen.requires, seenBy: owners) { () throws(JourneyRefusal) in
            try scope(of: coordinator, with: params)
        }
    }

    /// Why the journey may not be on the screen of a frame; empty when it may.
    mutating func obstacles(to frame: Frame) throws(JourneyRefusal) -> [JSONViolation] {
        if try isOpen(frame) { return [] }
        let requires = try screen(of: frame).requires
        return try scope(of: frame.coordinator, with: frame.params).obstacles(to: requires)
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
