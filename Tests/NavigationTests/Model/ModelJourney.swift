import Navigation

/// A journey by the letter of the language of flows, as straight as it can be written: lists, and a search through all
/// of them for each question. Shares nothing with the engine.
struct ModelJourney {
    struct Refused: Error {}

    struct Frame {
        var coordinator: Int
        var state: Int
        var presentation: Frame.Presentation
        /// Going back passes it over.
        var isSkipped = false
        /// Going back does not get to it.
        var isSealed = false
        /// What the transition gave to it.
        var number: Int?
        /// What the journey waits for while the frame is there.
        var task: Task?

        typealias Presentation = Navigation.Frame.Presentation
    }

    struct Coordinator {
        var id: Int
        var flow: Int
        var parent: Int?
        var startedBy: Int?
        var startedAt: Int64
        var clocks: [Clock]
    }

    /// What a coordinator has for itself.
    struct Owned: Equatable {
        var coordinator: Int
        var service: String
        var flags: [String: Bool]
    }

    let flows: [ModelFlow]
    var frames: [Frame] = []
    var coordinators: [Coordinator] = []
    /// The flags of the session's services.
    var session = ModelFlow.services
    /// What has been written of what coordinators own, oldest first.
    var owned: [Owned] = []
    var notes: [String] = []
    /// What the last step has removed of what coordinators own, in that order.
    var removed: [String] = []
    /// Whether the last step has written a flag, be it to what it was.
    var hasWritten = false
    /// Whether the last step has begun a task.
    var hasBegun = false
    var outcome: String?
    var isExpired = false
    private var nextID = 0
    /// Whether the top frame was there before and shows itself again.
    var isUncovered = false
    /// The frames as they were before the move.
    var framesBefore: [Frame] = []
    /// Whether a link leads.
    var isLink = false
    /// What a parent is told when a child has lost everything.
    var farewell = "abandoned"
    /// Whether something has happened outside that no closed screen refuses.
    var isFact = false
    /// Whether the top screen was closed when a fact led there, so that it was not entered.
    var isUnentered = false
    /// What the task has put out, while its end is dealt with.
    var output: Bool?
    /// How often something has moved the journey without an event.
    var unpromptedMoves = 0

    // Times
    var now: Int64
    /// When somebody did something last.
    var movedAt: Int64
    /// When it was determined when the journey is due.
    var settledAt: Int64
    /// When something happens by itself; nil: never.
    var dueAt: Int64?
    /// The clocks of the top screen.
    var screenClocks: [Clock] = []
    /// How many screens were entered.
    var entries = 0
    /// Whether a clock has done something in the last step.
    var hasActed = false
    var timeEvents: [TimeEvent] = []

    init(flows: [ModelFlow], now: Int64) {
        self.flows = flows
        (self.now, movedAt, settledAt) = (now, now, now)
    }

    mutating func makeID() -> Int {
        nextID += 1
        return nextID
    }
}

// MARK: - Steps

extension ModelJourney {
    mutating func start(_ flow: Int) throws {
        try whole { try $0.begin(flow) }
    }

    mutating func restart(_ flow: Int) throws {
        try whole { journey in
            journey.leave()
            try journey.end()
            try journey.begin(flow)
        }
    }

    /// Somebody writes a flag as the journey sees it; nil removes its service.
    mutating func write(_ flag: String, _ value: Bool?) {
        let coordinator = frames.last?.coordinator
        let service = ModelFlow.service(of: flag)
        (notes, removed) = ([], [])
        if let value { set(flag, value, coordinator) } else { remove(service, coordinator) }
        removed = []
        setDue()
    }

    /// - Parameter asLink: whether only what does no damage is taken.
    mutating func send(_ event: String, asLink: Bool = false) throws {
        try checkIsAtRest()
        try whole { journey in
            journey.isLink = asLink
            journey.movedAt = journey.now
            guard let top = journey.frames.last, let screen = journey.screen(of: top) else { throw Refused() }
            if event == "back" { return try journey.back(from: screen) }
            guard let (moves, owner) = journey.reaction(to: event), let move = try journey.first(of: moves, owner)
            else { throw Refused() }
            guard move.isMove else { return try journey.make(move, owner) }
            try journey.take(move, of: owner)
        }
    }

    /// The moves of an event, the screen's own or those of the nearest flow, and whose they are.
    func reaction(to event: String) -> (moves: [ModelFlow.Move], owner: Int)? {
        guard let top = frames.last, let screen = screen(of: top) else { return nil }
        if let moves = screen.events[event] { return (moves, top.coordinator) }
        var owner: Coordinator? = coordinator(top.coordinator)
        while let here = owner {
            if let moves = flows[here.flow].events[event] { return (moves, here.id) }
            owner = here.parent.map { coordinator($0) }
        }
        return nil
    }

    /// What is due comes before any event.
    func checkIsAtRest() throws {
        guard !isDue, try unprompted() == nil else { throw Refused() }
    }

    var isDue: Bool { dueAt.map { $0 <= now } ?? false }

    /// The journey before a step.
    var fresh: ModelJourney {
        var copy = self
        (copy.notes, copy.removed) = ([], [])
        (copy.hasWritten, copy.hasBegun) = (false, false)
        (copy.isFact, copy.isUnentered) = (false, false)
        copy.timeEvents = []
        copy.prepareForMove()
        return copy
    }

    mutating func prepareForMove() {
        output = nil
        (isLink, isFact, isUncovered) = (false, false, false)
        framesBefore = frames
    }

    /// All of it or nothing.
    mutating func whole(_ step: (inout ModelJourney) throws -> Void) throws {
        var copy = fresh
        try step(&copy)
        copy.isLink = false
        try copy.rest()
        copy.setDue()
        self = copy
    }
}

// MARK: - Looking

extension ModelJourney {
    func coordinator(_ id: Int) -> Coordinator {
        guard let found = coordinators.first(where: { $0.id == id }) else { preconditionFailure("no such coordinator") }
        return found
    }

    func state(of frame: Frame) -> ModelFlow.State {
        flows[coordinator(frame.coordinator).flow].states[frame.state]
    }

    /// A task shows a screen without anything of its own.
    func screen(of frame: Frame) -> ModelFlow.Screen? {
        switch state(of: frame) {
        case .screen(let screen): screen
        case .task(let task): ModelFlow.Screen(back: task.mayGoBack ? .allowed : .forbidden)
        case .choice, .flow, .final: nil
        }
    }
}
