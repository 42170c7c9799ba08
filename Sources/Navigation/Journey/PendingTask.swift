import JSONDocument

/// Work outside that a journey waits for. The top frame is that of its state for as long as it is there.
///
/// A class, because steps copy journeys, and most have none.
public final class PendingTask: Sendable {
    /// The number of the step that began it: unique within the journey, and it never comes back.
    public let number: UInt64
    /// The name of the task.
    public let name: String
    /// What the work is done with.
    public let input: JSONDocument
    /// What the sender of the event that led to the task has sent with it, so that a sign-in can ask for the proof.
    package let challenge: String?
    /// What was heard of it since; nil for most tasks, of which nothing is heard but their result.
    package let notes: TaskNotes?

    init(
        number: UInt64, name: String, input: JSONDocument, challenge: String? = nil, notes: TaskNotes? = nil
    ) {
        self.number = number
        self.name = name
        self.input = input
        self.challenge = challenge
        self.notes = notes
    }

    func numbered(_ number: UInt64) -> PendingTask {
        PendingTask(number: number, name: name, input: input, challenge: challenge, notes: notes)
    }

    fileprivate func challenged(_ challenge: String) -> PendingTask {
        PendingTask(number: number, name: name, input: input, challenge: challenge, notes: notes)
    }

    /// The task with other notes.
    package func noting(_ change: (inout TaskNotes) -> Void) -> PendingTask {
        var notes = notes ?? TaskNotes()
        change(&notes)
        return PendingTask(
            number: number, name: name, input: input, challenge: challenge, notes: notes == TaskNotes() ? nil : notes)
    }

    /// The result that could not be taken.
    package var result: KeptResult? { notes?.result }

    /// See ``TaskNotes/hasMoved``.
    package var hasMoved: Bool { notes?.hasMoved ?? false }

    /// Whether only an operator can end it: see ``KeptResult/isHeld``.
    package var isHeld: Bool { notes?.result?.isHeld ?? false }
}

extension PendingTask: Equatable {
    public static func == (one: PendingTask, other: PendingTask) -> Bool {
        one.number == other.number && one.name == other.name && one.input == other.input
            && one.challenge == other.challenge && one.notes == other.notes
    }
}

/// What was heard of a task before its end.
package struct TaskNotes: Sendable, Equatable {
    /// The version of the flow that began it, where the journey has moved to a newer one since.
    package var formerVersion: Int?
    /// Why the last attempt failed.
    package var failure: String?
    /// Whether its journey has come from another session, so that its result signs nobody in to this one.
    package var hasMoved = false
    package var result: KeptResult?

    package init() {}
}

/// A result of a task that could not be taken, with the reason: what the outside says has happened is not lost.
package struct KeptResult: Sendable, Equatable {
    package let outcome: String
    package let output: JSONDocument
    /// Why the flow did not take the result: the problem (RFC 9457) that the worker got as its response.
    package var problem: JSONDocument
    /// Whether no better one can come: no attempt is made any more, no time ends the task, and an operator has to.
    /// Before that the lease of the attempt runs.
    package var isHeld: Bool
    /// Whether a back end has posted it. Otherwise the last attempt has failed.
    package let isReported: Bool
    /// The user who was to be signed in with it, as it was posted.
    package let signIn: JSONDocument?

    package init(
        outcome: String, output: JSONDocument, problem: JSONDocument, isHeld: Bool, isReported: Bool,
        signIn: JSONDocument? = nil
    ) {
        self.outcome = outcome
        self.output = output
        self.problem = problem
        self.isHeld = isHeld
        self.isReported = isReported
        self.signIn = signIn
    }
}

/// The stored form: `{"from": 1, "failure": "…", "moved": true, "result": […]}`, the result as outcome, output,
/// problem, held, reported, and the user, if there is one. The output is a string with its JSON text, so that it may be
/// nested as deeply as a request.
extension TaskNotes {
    package var document: JSONDocument {
        var members: [(name: String, value: JSONDocument)] = []
        if let formerVersion { members.append(("from", JSONDocument(formerVersion))) }
        if let failure { members.append(("failure", JSONDocument(failure))) }
        if hasMoved { members.append(("moved", true)) }
        if let result {
            let output = String(decoding: result.output.serialized(), as: UTF8.self)
            members.append(
                (
                    "result",
                    JSONDocument(
                        [
                            JSONDocument(result.outcome), JSONDocument(output), result.problem,
                            JSONDocument(result.isHeld ? 1 : 0), JSONDocument(result.isReported ? 1 : 0),
                        ] + [result.signIn].compactMap(\.self))
                ))
        }
        return JSONDocument(members: members)
    }

    /// Nil when the document is none of notes.
    package init?(_ document: JSONDocument) {
        guard document.kind == .object else { return nil }
        formerVersion = document[member: "from"]?.int
        failure = document[member: "failure"]?.string
        hasMoved = document[member: "moved"]?.bool ?? false
        guard let written = document[member: "result"] else { return }
        guard let outcome = written[0]?.string, let text = written[1]?.string, let problem = written[2],
            let output = try? JSONDocument(parsing: Array(text.utf8))
        else { return nil }
        result = KeptResult(
            outcome: outcome, output: output, problem: problem, isHeld: written[3]?.int == 1,
            isReported: written[4]?.int == 1, signIn: written[5])
    }
}

extension Journey {
    /// The journey with the number that its task had where it was: results come by it.
    package func withTask(of former: Journey) -> Journey {
        var journey = self
        if let number = former.task?.number { journey.task = journey.task?.numbered(number) }
        return journey
    }

    /// The task that the last step began, if it began one, keeps the challenge that the step came with: that of the
    /// event, or of the task before. A screen in between is a person's turn, whose event brings a challenge of its own.
    package mutating func keepChallenge(_ challenge: String?) {
        guard let challenge, let begun = task, begun.number == step else { return }
        task = begun.challenged(challenge)
    }

    /// The task signs nobody in who has to prove something.
    package mutating func forgetChallenge() {
        guard let former = task, former.challenge != nil else { return }
        task = PendingTask(number: former.number, name: former.name, input: former.input, notes: former.notes)
    }

    /// Changes what is known of the task that the journey waits for. A task that is held is ended by no time, neither
    /// its own nor that of a flow.
    package mutating func noteOfTask(_ change: (inout TaskNotes) -> Void) {
        task = task?.noting(change)
        if task?.isHeld == true { (dueAt, expiresAt) = (nil, nil) }
    }
}
