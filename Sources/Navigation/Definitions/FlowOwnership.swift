/// What belongs to a run of a flow, and to whom the run belongs.
public struct FlowOwnership: Sendable {
    /// The services of which each coordinator of the flow has an instance of its own.
    public var services: [String] = []
    /// Whether an event must say what the sender saw: `"concurrency": "first_write"`.
    public var isFirstWrite = false
    /// Whether a journey of the flow goes on when its user signs out: `"bound_to": "session"`.
    public var isBoundToSession = false

    /// Owns nothing, takes every event, and ends with its user.
    public static let none = FlowOwnership()
}
