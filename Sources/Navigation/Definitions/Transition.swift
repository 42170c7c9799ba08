/// What happens when an event comes, a child ends or time passes.
public struct Transition: Sendable {
    /// Nil always holds.
    public let `guard`: Guard?
    /// A place in the states of the flow that the transition stands in; nil stays, unless ``nav`` goes back.
    public let target: Int?
    /// Nil when the file names none: `push`, where there is a target.
    public let nav: NavigationVerb?
    public let actions: [Action]
    public let history: HistoryPolicy
    /// Where it stands in the file, as a JSON Pointer.
    public let place: String

    /// Whether another screen may be seen afterwards.
    public var moves: Bool { target != nil || nav != nil }
}

/// What a transition does to the navigation stack.
public enum NavigationVerb: String, Sendable, CaseIterable {
    /// A frame on top.
    case push
    /// Instead of the top frame.
    case replace
    /// A modal context on top, with a stack of its own until it is dismissed.
    case present
    /// The topmost modal context goes, with everything in it. With a target: then that is pushed, if it is not there.
    case dismiss
    /// Back by one. With a target: then that is pushed, if it is not there.
    case pop
    /// Back to the nearest frame of the target.
    case popTo = "pop_to"
    /// Back to the root of this context. With a target: then that is pushed, if it is not there.
    case popToRoot = "pop_to_root"
    /// Everything goes, all children are released, and the target is the root of a new stack.
    case setRoot = "set_root"

    /// Whether the verb can do without a target.
    public var standsAlone: Bool { self == .dismiss || self == .pop || self == .popToRoot }
}

/// What going back finds later of the screen that a transition leaves.
public enum HistoryPolicy: String, Sendable, CaseIterable {
    case preserve
    /// The frame is skipped.
    case discard
    /// Neither this frame nor any below it can be gone back to.
    case invalidate
}

/// What an event does: the first transition whose guard holds.
public struct EventRule: Sendable {
    public let event: String
    public let transitions: [Transition]
    /// How it is shown when it would do something.
    let enabledText: [UInt8]

    init(event: String, transitions: [Transition]) {
        self.event = event
        self.transitions = transitions
        enabledText = ScreenText.enabled([event])
    }
}

/// The shape that the data of an event must have.
public struct EventShape: Sendable {
    public let event: String
    public let shape: ShapeRule
}
