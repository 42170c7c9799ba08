import JSONDocument

/// A journey as a client is shown it. Times are milliseconds since 1970.
public struct JourneyView: Sendable, Equatable {
    /// The id of the journey.
    public let id: String
    /// The id of its flow.
    public let flow: String
    /// The version of its flow.
    public let version: Int
    /// Whether it goes on.
    public let status: JourneyStatus
    /// The number of its last step; it only grows.
    public let step: UInt64
    /// Nil once the journey is over.
    public let screen: ScreenView?
    /// The events of the screen, and whether each would be accepted now.
    public let events: [EventView]
    /// Whether `back` would be accepted now.
    public let canGoBack: Bool
    /// From the bottom up.
    public let stack: [FrameView]
    /// Nil once the journey is over.
    public let coordinators: CoordinatorView?
    /// How it ended; `nil` as long as it is active.
    public let outcome: String?
    /// What it ended with; `nil` as long as it is active.
    public let output: JSONDocument?
    /// When it started.
    public private(set) var startedAt: Int64
    /// When it expires unless it is used; `nil` when it never does.
    public private(set) var expiresAt: Int64?
    /// Whether it may look otherwise at any moment: a guard compares with the time.
    package let isRestless: Bool

    /// Moves its times, for who runs journeys by another clock than the one that people read.
    package mutating func moveTimes(by milliseconds: Int64) {
        startedAt &+= milliseconds
        expiresAt = expiresAt.map { $0 &+ milliseconds }
    }
}
