import JSONDocument

/// A screen on the navigation stack.
public struct Frame: Sendable {
    /// The id of the coordinator whose flow has the screen.
    public let coordinator: Int
    /// The id of the state.
    public var state: String
    /// How the screen came onto the stack.
    public var presentation: Presentation
    /// Whether going back may end here, as far as history is concerned.
    public var mark: Mark = .none
    /// The values that the transition gave to the frame; nil when it gave none.
    public var params: JSONDocument?
    /// The index of the state in its flow, if a step has looked it up: see ``FlowDefinition/place(of:)-(Frame)``.
    var knownPlace: Int32 = -1

    /// How a screen came onto the stack.
    public enum Presentation: String, Sendable, CaseIterable {
        /// The first frame of the stack.
        case root
        /// A frame on top of another.
        case push
        /// The first frame of a modal context.
        case modal

        var beginsContext: Bool { self != .push }
    }

    /// Whether going back may end at a frame, as far as history is concerned.
    public enum Mark: Int, Sendable {
        /// It may.
        case none
        /// Going back skips the frame.
        case discarded
        /// Going back never reaches the frame, nor any below it.
        case invalidated
    }
}

extension Frame: Equatable {
    /// Compares everything but the known index.
    public static func == (one: Frame, other: Frame) -> Bool {
        one.coordinator == other.coordinator && one.state == other.state && one.presentation == other.presentation
            && one.mark == other.mark && one.params == other.params
    }
}

/// Runs one flow inside a journey. It lives exactly as long as it, or a child of it, has a frame or is entering one.
public struct Coordinator: Sendable {
    /// Unique within the journey while the coordinator lives; 0 is the journey's own flow.
    public let id: Int
    /// The id of the flow.
    public internal(set) var flow: String
    /// The version of the flow.
    public internal(set) var version: Int
    /// The coordinator that started it; nil for the journey's own flow.
    public let parent: Int?
    /// The state of the parent's flow that started it.
    public internal(set) var startedBy: String?
    /// The input of the flow.
    public let input: JSONDocument
    /// Milliseconds since 1970.
    public let startedAt: Int64
    /// The index of the flow in the catalog, if a step has looked it up: see ``FlowCatalog/flow(of:at:)``.
    var knownPlace: Int32 = -1
}

extension Coordinator: Equatable {
    /// Compares everything but the known index.
    public static func == (one: Coordinator, other: Coordinator) -> Bool {
        one.id == other.id && one.flow == other.flow && one.version == other.version && one.parent == other.parent
            && one.startedBy == other.startedBy && one.input == other.input && one.startedAt == other.startedAt
    }
}
