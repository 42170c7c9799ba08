import JSONDocument

/// A journey as a client is shown it. Times are milliseconds since 1970.
public struct JourneyView: Sendable, Equatable {
    public let id: String
    public let flow: String
    public let version: Int
    public let status: JourneyStatus
    public let step: UInt64
    /// Nil once the journey is over.
    public let screen: ScreenView?
    public let events: [EventView]
    public let canGoBack: Bool
    /// From the bottom up.
    public let stack: [FrameView]
    /// Nil once the journey is over.
    public let coordinators: CoordinatorView?
    public let outcome: String?
    public let output: JSONDocument?
    public private(set) var startedAt: Int64
    public private(set) var expiresAt: Int64?
    /// Whether it may look otherwise at any moment: a guard compares with the time.
    package let isRestless: Bool

    /// Moves its times, for who runs journeys by another clock than the one that people read.
    package mutating func moveTimes(by milliseconds: Int64) {
        startedAt &+= milliseconds
        expiresAt = expiresAt.map { $0 &+ milliseconds }
    }
}
