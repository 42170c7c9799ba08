/// How a journey gets from an older version of a flow to the one that this stands in.
public struct Migration: Sendable {
    /// The version that journeys come from.
    public let from: Int
    /// Old state ids to new ones; a state that is not named keeps its id.
    public let states: [String: String]
    /// What is done to the services.
    public let patch: [Action]

    /// The state that takes the place of an old one: the same id, unless the migration names another.
    public func state(for old: String) -> String { states[old] ?? old }
}
