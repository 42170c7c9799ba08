import JSONDocument

/// One thing to do with one service, by itself or as a part of a transaction.
package struct ServiceOperation: Sendable {
    package enum Action: Sendable {
        /// Replaces the state.
        case put(JSONDocument)
        /// RFC 7396.
        case mergePatch(JSONDocument)
        /// RFC 6902.
        case jsonPatch(JSONDocument)
        /// Puts the living instance back to its default, which is a write. Does nothing when none lives.
        case clear
        /// The instance leaves; the next access makes a clean one. Does nothing when none lives.
        case remove
    }

    package let service: RegisteredService
    package let action: Action
    package let condition: WriteCondition
    /// The journey whose topmost coordinator says which instance is meant; nil for the session's.
    package let journey: String?

    package init(
        _ action: Action, on service: RegisteredService, condition: WriteCondition = .none, journey: String? = nil
    ) {
        self.action = action
        self.service = service
        self.condition = condition
        self.journey = journey
    }

    /// What the service is like afterwards.
    package struct Outcome: Sendable {
        package let service: RegisteredService
        package let etag: ServiceETag
        /// The state as it goes out; the default when no instance lives.
        package let bytes: [UInt8]
    }
}

/// Who does something: what the public may only read, a trusted back end writes.
package enum ServiceCaller: Sendable {
    case client, admin
}
