/// What happens when an event comes, a child ends or time passes.
public struct Transition: Sendable {
    /// Nil always holds.
    public let `guard`: Guard?
    /// A place in the states of the flow that the transition stands in; nil stays, unless ``nav`` goes back.
    public let target: Int?
    /// Nil when the file names none: `push`, where there is a target.
    public let nav: NavigationVerb?
    /// What is done when the transition is taken.
    public let actions: [Action]
    /// What going back finds later.
    public let history: HistoryPolicy
    /// Where it stands in the file, as a JSON Pointer.
    public let place: String

    /// Whether another screen may be seen afterwards.
    public var moves: Bool { target != nil || nav != nil }
}
