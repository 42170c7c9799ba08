/// One way out of a choice.
public struct Branch: Sendable {
    /// Nil always holds: the last branch.
    public let `guard`: Guard?
    /// A place in the flow's states.
    public let target: Int
    /// Nil keeps the verb of the transition that led here.
    public let nav: NavigationVerb?
    /// What is done when the branch is taken.
    public let actions: [Action]
    /// Where it stands in the file, as a JSON Pointer.
    public let place: String
}
