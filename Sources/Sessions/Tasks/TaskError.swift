/// Why nothing was done with a task, apart from what its flow has to say: that is a `JourneyRefusal`.
package enum TaskError: Error, Sendable, Equatable {
    /// No task has that id.
    case notFound
    /// It has ended: by a result, by its time, or because the journey has left it.
    case over
    /// The caller has no lease: no attempt is in progress, or a later one is.
    case notClaimed
}

extension TaskError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .notFound: "There is no such task."
        case .over: "The task is over. Nothing was changed."
        case .notClaimed: "This worker holds no lease on the task. Claim it first."
        }
    }
}
