import JSONDocument

/// A running flow of one session, as a value: its position, and everything that is needed to continue.
///
/// A journey names states by their ids and does not contain definitions, so it can be read, listed and stored on its
/// own. ``FlowEngine`` makes journeys, and makes the next one from each.
public struct Journey: Sendable, Equatable {
    /// The name of the journey, unique in its session.
    public internal(set) var id: String
    /// Whether the journey is running.
    public internal(set) var status: JourneyStatus
    /// The number of the last step, also raised by starting over: the journey's entity tag.
    public internal(set) var step: UInt64
    /// The stack from the bottom up; empty once the journey is over.
    public internal(set) var frames: [Frame]
    /// Parents before their children, the journey's own flow first; empty once the journey is over.
    public internal(set) var coordinators: [Coordinator]
    /// The id of the journey's own flow.
    public internal(set) var flow: String
    /// The version of the journey's own flow.
    public internal(set) var version: Int
    /// When the flow started, or started over. All times are milliseconds since 1970.
    public internal(set) var startedAt: Int64
    /// When the last step was taken.
    public internal(set) var movedAt: Int64
    /// When the top screen was entered.
    public internal(set) var enteredAt: Int64
    /// When the journey expires unless it moves; nil: never.
    public internal(set) var expiresAt: Int64?
    /// When ``FlowEngine/advance(_:services:now:beforeEvent:)`` has something to do unless the journey moves or the
    /// data changes: a timer or a timeout is due, the journey or a child reaches its time limit, a standing rule about
    /// the time turns. Nil: never.
    public internal(set) var dueAt: Int64?
    /// Whether a user was signed in when the journey last moved.
    public package(set) var isOfUser = false
    /// See ``extras``; nil for most.
    var box: ExtrasBox?
}

extension Journey {
    /// A journey that has not begun.
    init(id: String, flow: FlowDefinition, now: Int64, step: UInt64 = 0) {
        self.init(
            id: id, status: .active, step: step, frames: [], coordinators: [], flow: flow.id, version: flow.version,
            startedAt: now, movedAt: now, enteredAt: now, expiresAt: nil, dueAt: nil)
    }

    /// Whether the journey is running.
    public var isActive: Bool { status == .active }

    /// What the journey's own flow was given.
    public var input: JSONDocument { coordinators.first?.input ?? formerInput ?? .emptyObject }

    /// The top frame, whose screen the client draws.
    public var top: Frame? { frames.last }

    /// The state whose frame is on top of a stack, in the flow of that frame's coordinator.
    package struct Screen: Sendable, Hashable {
        package let flow: String
        package let version: Int
        package let state: String

        package init(flow: String, version: Int, state: String) {
            (self.flow, self.version, self.state) = (flow, version, state)
        }
    }

    /// The flow and the state of the top frame, without a copy of that.
    package var screen: Screen? { Self.screen(frames, coordinators, flow, version) }

    /// The same of parts: a method that is called on a journey of an object copies the journey.
    package static func screen(
        _ frames: [Frame], _ coordinators: [Coordinator], _ flow: String, _ version: Int
    ) -> Screen? {
        guard let top = frames.indices.last else { return nil }
        guard let place = coordinators.place(of: frames[top].coordinator) else {
            return Screen(flow: flow, version: version, state: frames[top].state)
        }
        return Screen(
            flow: coordinators[place].flow, version: coordinators[place].version, state: frames[top].state)
    }

    /// The state of the journey's own flow: that of the top screen, or the one whose child flow has that. Nil when the
    /// journey is over.
    package var ownState: String? {
        guard let top else { return nil }
        var (coordinator, state) = (coordinator(top.coordinator), top.state)
        while let child = coordinator, let parent = child.parent {
            state = child.startedBy ?? ""
            coordinator = self.coordinator(parent)
        }
        return state
    }

    /// The coordinator of that id.
    public func coordinator(_ id: Int) -> Coordinator? { coordinators.place(of: id).map { coordinators[$0] } }

    /// The coordinator that started one.
    func parent(of coordinator: Int) -> Int? { coordinators.place(of: coordinator).flatMap { coordinators[$0].parent } }

    /// The journey by another name, for another session.
    package func renamed(_ id: String) -> Journey {
        var journey = self
        journey.id = id
        return journey
    }

    /// The journey with its steps counted on from those of an earlier journey of the same id.
    package func continuing(after step: UInt64) -> Journey {
        var journey = self
        journey.step += step
        // What a store has lost may have had a task of the same number.
        journey.task = journey.task?.numbered(journey.step)
        return journey
    }
}

/// Whether a journey is running.
public enum JourneyStatus: String, Sendable, CaseIterable {
    /// It is running.
    case active
    /// Its flow reached an end, or the user went back from its first screen.
    case finished
    /// Its time is over.
    case expired
}
