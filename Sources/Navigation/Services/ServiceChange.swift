import JSONDocument

/// What a step does to one service.
public struct ServiceChange: Sendable, Equatable {
    public let service: String
    public let effect: Effect

    public init(service: String, effect: Effect) {
        self.service = service
        self.effect = effect
    }

    public enum Effect: Sendable, Equatable {
        /// This is its state now; it was looked at against the schema.
        case written(JSONDocument)
        /// Back to its default, if an instance lives.
        case cleared
        /// The instance leaves.
        case removed
    }
}
