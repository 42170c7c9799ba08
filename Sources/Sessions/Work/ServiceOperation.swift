import JSONDocument

/// An operation on a service, by itself or as a part of a transaction.
package struct ServiceOperation: Sendable {
    package enum Action: Sendable {
        /// Replaces the state.
        case put(JSONDocument)
        /// RFC 7396.
        case mergePatch(JSONDocument)
        /// RFC 6902.
        case jsonPatch(JSONDocument)
        /// Resets the living instance to its default, which is a write. Does nothing when none lives.
        case clear
        /// Removes the instance. The next access creates a new one. Does nothing when none lives.
        case remove
        /// Calls a command with an input.
        case call(ServiceCommand, JSONDocument?)
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

    /// The service after the operation.
    package struct Outcome: Sendable {
        package let service: RegisteredService
        package let etag: ServiceETag
        /// The state that is sent; the default when no instance lives.
        package let bytes: [UInt8]
        /// Of a command.
        package var output: JSONDocument?
    }
}

/// Who performs an operation. A trusted back end may write what clients may only read.
package enum ServiceCaller: Sendable {
    case client, admin
    /// A trusted back end, on the documents of the process.
    case process
}
