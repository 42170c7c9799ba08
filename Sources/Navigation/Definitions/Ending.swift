/// A state in which the flow is finished.
public struct Ending: Sendable {
    /// What the parent is told and a finished journey shows; the state's id unless the file says otherwise.
    public let outcome: String
    /// What the flow hands back; nil is null.
    public let output: ValueTemplate?
}
