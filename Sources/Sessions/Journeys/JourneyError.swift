import Navigation

/// Why nothing was done with a journey, apart from what its flow has to say: that is a `JourneyRefusal`.
package enum JourneyError: Error, Sendable, Equatable {
    /// The session has no journey of that id.
    case notFound(String)
    /// The journey does not stand where the caller expects it.
    ///
    /// - current: the step at which it stands; 0 when there is no such journey.
    case preconditionFailed(current: UInt64)
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
            current == 0
                ? "There is no such journey yet." : "The journey stands elsewhere: its entity tag is \"\(current)\"."
        case .tooMany(let limit): "The session has \(limit) journeys, and all of them are running."
        case .noMainFlow: "A flow is needed: none is configured for the journey 'main'."
        }
    }
}
