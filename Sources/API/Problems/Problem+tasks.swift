import JSONDocument
import Sessions

extension Problem {
    /// The problem for an error of a task.
    package init(_ error: TaskError) {
        switch error {
        case .notFound: self.init(.taskNotFound)
        case .over: self.init(.taskOver)
        case .notClaimed: self.init(.taskNotClaimed)
        }
    }

    /// The problem for an outcome that a flow has no transition for.
    package init(unknownOutcome outcome: String, known: [String]) {
        self.init(
            .invalidInput, "The flow has no transition for the outcome \(outcome.quoted).",
            errors: [
                InvalidInput(pointer: "/outcome", detail: "must be one of \(known.joined(separator: ", "))")
            ])
    }
}
