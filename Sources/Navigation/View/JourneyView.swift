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
    public let startedAt: Int64
    public let expiresAt: Int64?
}

public struct ScreenView: Sendable, Equatable {
    /// The state's id.
    public let id: String
    public let name: String
    public let title: String?
    public let presentation: Frame.Presentation
    /// The documents of the services that the screen shows, in the order of the file.
    public let data: [(service: String, document: JSONDocument)]

    public static func == (one: ScreenView, other: ScreenView) -> Bool {
        one.id == other.id && one.name == other.name && one.title == other.title
            && one.presentation == other.presentation && one.data.elementsEqual(other.data, by: ==)
    }
}

public struct EventView: Sendable, Equatable {
    public let name: String
    public let enabled: Bool
    /// What is in the way of an event that is not enabled.
    public let why: [JSONViolation]
}

public struct FrameView: Sendable, Equatable {
    public let flow: String
    public let screen: String
    public let presentation: Frame.Presentation
}

public struct CoordinatorView: Sendable, Equatable {
    public let flow: String
    public let state: String
    public let children: [CoordinatorView]
}
