import JSONDocument

/// A screen on the navigation stack.
public struct Frame: Sendable {
    /// The id of the coordinator whose flow the screen belongs to.
    public let coordinator: Int
    /// The id of the screen in that flow.
    public var state: String
    public var presentation: Presentation
    public var mark: Mark = .none
    /// Where the state stood among those of its flow when somebody looked: see ``FlowDefinition/place(of:)-(Frame)``.
    var knownPlace: Int32 = -1

    public enum Presentation: String, Sendable {
        /// The first frame of the whole stack.
        case root
        case push
        /// The first frame of a modal context.
        case modal

        var beginsContext: Bool { self != .push }
    }

    /// Whether going back may end here, as far as history is concerned.
    public enum Mark: Int, Sendable {
        case none
        /// Going back skips it.
        case discarded
        /// Neither it nor any frame below it can be gone back to.
        case invalidated
    }
}

extension Frame: Equatable {
    public static func == (one: Frame, other: Frame) -> Bool {
        one.coordinator == other.coordinator && one.state == other.state && one.presentation == other.presentation
            && one.mark == other.mark
    }
}

/// Runs one flow inside a journey. It lives exactly as long as it, or a child of it, has a frame or is entering one.
public struct Coordinator: Sendable {
    /// Unique within the journey while it lives; 0 is the journey's own flow.
    public let id: Int
    public internal(set) var flow: String
    public internal(set) var version: Int
    /// The coordinator that started it; nil for the journey's own flow.
    public let parent: Int?
    /// The state of the parent's flow that it was started by.
    public internal(set) var startedBy: String?
    /// What the flow was given.
    public let input: JSONDocument
    /// Milliseconds since 1970.
    public let startedAt: Int64
    /// Where the flow stood in a catalog when somebody looked: see ``FlowCatalog/flow(of:at:)``.
    var knownPlace: Int32 = -1
}

extension Coordinator: Equatable {
    public static func == (one: Coordinator, other: Coordinator) -> Bool {
        one.id == other.id && one.flow == other.flow && one.version == other.version && one.parent == other.parent
            && one.startedBy == other.startedBy && one.input == other.input && one.startedAt == other.startedAt
    }
}
