import JSONDocument
import Navigation

/// What somebody says of the end of a task.
package struct TaskReport: Sendable {
    package let outcome: String
    package var output = JSONDocument.null
    /// Whether a back end says so; else the last attempt has failed.
    package var isReported = true
    /// Whether an operator says so: then it counts more than a result that is kept.
    package var isOfOperator = false
    /// The user whom it signs in, as it was posted (``UserClaims``).
    package var signIn: JSONDocument?
    /// Whether the response to it can have the session's new token.
    package var canHandOver = true

    package init(outcome: String, output: JSONDocument = .null) {
        (self.outcome, self.output) = (outcome, output)
    }

    /// What was posted once, and kept.
    init(_ kept: KeptResult) {
        self.init(outcome: kept.outcome, output: kept.output)
        isReported = kept.isReported
        isOfOperator = true
        signIn = kept.signIn
    }

    /// The task has failed.
    static func failure(_ reason: String, attempts: Int, isOfOperator: Bool) -> TaskReport {
        var report = TaskReport(
            outcome: TaskState.failed, output: ["reason": JSONDocument(reason), "attempts": JSONDocument(attempts)])
        report.isReported = false
        report.isOfOperator = isOfOperator
        return report
    }
}

/// What has become of a report.
package enum TaskEnd: Sendable {
    /// The journey has moved on.
    case taken
    /// The same, and a user is attached.
    case signedIn(SignedIn)
    /// It is kept, since the flow could not take it: an operator has to end the task.
    case held(problem: JSONDocument)
}

/// What operators see of a task besides where it stands.
package struct TaskDetails: Sendable {
    package let input: JSONDocument
    package let notes: TaskNotes?
    /// Whether a journey waits for it.
    package let isAwaited: Bool
    /// That of its session, or of a task for which no journey waits, the one for whom it was recorded.
    package let userID: String?
}

extension TaskDetails {
    init(_ standing: TaskStanding) {
        self.init(
            input: standing.input, notes: standing.notes, isAwaited: standing.isAwaited, userID: standing.userID)
    }
}
