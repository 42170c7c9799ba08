import JSONDocument

/// A running flow of one session, as a value: where it is, and all that is needed to go on.
///
/// A journey knows states by their ids and not by definitions, so that it can be read, listed and stored on its own.
/// ``FlowEngine`` makes it and makes the next one of it.
public struct Journey: Sendable, Equatable {
    /// The id of the journey, unique in its session.
    public let id: String
    /// Whether it is active, and if not, why.
    public internal(set) var status: JourneyStatus
    /// Raised by each step, also by starting over: the journey's entity tag.
    public internal(set) var step: UInt64
    /// From the bottom to the screen that is looked at; empty once the journey is over.
    public internal(set) var frames: [Frame]
    /// Parents before their children, the journey's own flow first; empty once the journey is over.
    public internal(set) var coordinators: [Coordinator]
    /// The flow that it runs or ran.
    public internal(set) var flow: String
    /// The version of the flow that it was started with, or migrated to.
    public internal(set) var version: Int
    /// How it ended: the `outcome` of its final state.
    public internal(set) var outcome: String?
    /// What it ended with: the `output` of its final state.
    public internal(set) var output: JSONDocument?
    /// When the flow started, or started over. All times are milliseconds since 1970.
    public internal(set) var startedAt: Int64
    /// The last step.
    public internal(set) var movedAt: Int64
    /// Since when the current screen is looked at.
    public internal(set) var enteredAt: Int64
    /// When the journey is over unless it moves; nil: never.
    public internal(set) var expiresAt: Int64?
    /// When ``FlowEngine/advance(_:services:now:)`` has something to do unless the journey moves: it expires, a child
    /// expires, or the screen's time is over.
    public internal(set) var dueAt: Int64?

    /// One that has not begun.
    init(id: String, flow: FlowDefinition, now: Int64, step: UInt64 = 0) {
        self.init(
            id: id, status: .active, step: step, frames: [], coordinators: [], flow: flow.id, version: flow.version,
            outcome: nil, output: nil, startedAt: now, movedAt: now, enteredAt: now, expiresAt: nil, dueAt: nil)
    }

    init(
        id: String, status: JourneyStatus, step: UInt64, frames: [Frame], coordinators: [Coordinator], flow: String,
        version: Int, outcome: String?, output: JSONDocument?, startedAt: Int64, movedAt: Int64, enteredAt: Int64,
        expiresAt: Int64?, dueAt: Int64?
    ) {
        self.id = id
        self.status = status
        self.step = step
        self.frames = frames
        self.coordinators = coordinators
        self.flow = flow
        self.version = version
        self.outcome = outcome
        self.output = output
        self.startedAt = startedAt
        self.movedAt = movedAt
        self.enteredAt = enteredAt
        self.expiresAt = expiresAt
        self.dueAt = dueAt
    }

    /// Whether it can still take events.
    public var isActive: Bool { status == .active }

    /// The screen that is looked at.
    public var top: Frame? { frames.last }

    /// Whether the coordinators are a tree, parents first. Kept journeys come from other installations, too, and nothing
    /// may go round in circles in one.
    var isSound: Bool {
        var last = -1
        for coordinator in coordinators {
            guard coordinator.id > last, (coordinator.parent == nil) == (last == -1), coordinator.parent ?? -1 <= last
            else { return false }
            last = coordinator.id
        }
        return true
    }

    /// The live coordinator of that id, if there is one.
    public func coordinator(_ id: Int) -> Coordinator? { place(of: id).map { coordinators[$0] } }

    /// The place of a coordinator in ``coordinators``.
    func place(of coordinator: Int) -> Int? { coordinators.place(of: coordinator) }
}

extension [Coordinator] {
    /// Where the one of that id is.
    func place(of id: Int) -> Int? {
        for place in indices where self[place].id == id { return place }
        return nil
    }
}
