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
