/// How long a flow may run, in milliseconds.
///
/// A journey whose own flow has run out of time is expired. A child that has is ended, and its parent told
/// `done.expired`.
public struct FlowTimeout: Sendable, Equatable {
    /// Since the journey last moved.
    public let idle: Int64?
    /// Since the flow started.
    public let total: Int64?

    /// A journey that never expires.
    public static let none = FlowTimeout(idle: nil, total: nil)
}
