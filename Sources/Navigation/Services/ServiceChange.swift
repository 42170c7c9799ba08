import JSONDocument

/// What a step does to one service.
public struct ServiceChange: Sendable, Equatable {
    /// The name of the service.
    public let service: String
    /// What happens to it.
    public let effect: Effect

    /// A change of one service.
    public init(service: String, effect: Effect) {
        self.service = service
        self.effect = effect
    }

    /// What a step does to a service.
    public enum Effect: Sendable, Equatable {
        /// This is its state now; it was looked at against the schema.
        case written(JSONDocument)
        /// Back to its default, if an instance lives.
        case cleared
        /// The instance leaves.
        case removed
    }
}
