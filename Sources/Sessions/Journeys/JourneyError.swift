import Navigation

/// Why nothing was done with a journey, apart from what its flow has to say: that is a `JourneyRefusal`.
package enum JourneyError: Error, Sendable, Equatable {
    /// The session has no journey of that id.
    case notFound(String)
    /// The journey is not what the caller expects it to be.
    ///
    /// - current: the entity tag of what it shows; nil when there is no such journey.
    case preconditionFailed(current: ServiceETag?)
    /// The flow takes no event that does not say what its sender saw.
    case preconditionRequired
    /// As many journeys as a session may have, and none of them is over.
    case tooMany(limit: Int)
    /// `main` is to be begun, and neither the caller nor the configuration names a flow for it.
    case noMainFlow
}

extension JourneyError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .notFound(let id): "There is no journey '\(id)'."
        case .preconditionFailed(let current):
            current.map { "The journey has changed: its entity tag is \($0)." } ?? "There is no such journey yet."
        case .preconditionRequired:
            "The flow takes an event only with If-Match, or with the step that the sender saw."
        case .tooMany(let limit): "The session has \(limit) journeys, and all of them are running."
        case .noMainFlow: "A flow is needed: none is configured for the journey 'main'."
        }
    }
}
