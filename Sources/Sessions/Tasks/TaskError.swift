/// Why nothing was done with a task, apart from what its flow has to say: that is a `JourneyRefusal`.
package enum TaskError: Error, Sendable, Equatable {
    /// No task has that id.
    case notFound
    /// It has ended: by a result, by its time, or because the journey has left it.
    case over
    /// Nobody has a lease that could be extended.
    case notClaimed
}

extension TaskError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .notFound: "There is no such task."
        case .over: "The task is over. Nothing was changed."
        case .notClaimed: "Nobody has claimed the task, or its attempt has failed: claim it first."
        }
    }
}
