import JSONDocument
import Navigation

/// A task as a store keeps it: where it stands. What is to be done is in the journey, which the session's record has.
///
/// All times are steady time, in milliseconds; `Int64.max` is never.
package struct StoredTask: Sendable, Equatable {
    package let id: TaskID
    package let name: String
    /// The most attempts.
    package let attempts: Int
    package let createdAt: Int64
    /// The number of attempts that have begun.
    package private(set) var attempt: Int
    /// From when it may be handed out, if an attempt is left: for one that was handed out, the end of the lease.
    package private(set) var due: Int64
    /// Whether the last attempt may still be under way, until ``due``.
    package private(set) var isClaimed: Bool

    package init(
        id: TaskID, name: String, attempts: Int, createdAt: Int64, attempt: Int = 0, due: Int64, isClaimed: Bool = false
    ) {
        self.id = id
        self.name = name
        self.attempts = attempts
        self.createdAt = createdAt
        self.attempt = attempt
        self.due = due
        self.isClaimed = isClaimed
    }

    /// Whether no attempt is left.
    package var isExhausted: Bool { attempt >= attempts }

    /// From when it is to be handed out: what a store looks for by ``name``.
    package var readyAt: Int64 { isExhausted ? .max : due }

    /// When its last attempt is over, if that has no result by then. The end of the task's own time is its journey's.
    package var overAt: Int64 { isExhausted ? due : .max }

    /// Whether it may be handed out.
    package func isReady(at now: Int64) -> Bool { readyAt <= now }

    /// Whether a worker with that attempt has the task; nil when the worker does not say.
    package func isOn(_ attempt: Int?) -> Bool { attempt == nil || attempt == self.attempt }

    /// Hands it out.
    package mutating func claim(until end: Int64) {
        attempt += 1
        due = end
        isClaimed = true
    }

    /// Changes it, unless the update is about another attempt. The store does what ``TaskUpdate/remove`` says.
    package mutating func apply(_ update: TaskUpdate) {
        switch update {
        case .extend(let attempt, let end): if isClaimed, isOn(attempt) { due = end }
        case .fail(let attempt, let now, let retry, let after):
            guard isOn(attempt) else { return }
            due = now.later(by: after ?? retry.delay(afterAttempt: self.attempt))
            isClaimed = false
        case .giveBack(let attempt, let time):
            guard isClaimed, isOn(attempt) else { return }
            self.attempt -= 1
            due = time
            isClaimed = false
        case .putOff(let time): due = time
        case .remove: break
        }
    }
}

/// A change of a task that does not concern its journey.
package enum TaskUpdate: Sendable {
    /// The lease of an attempt in progress ends at that time.
    ///
    /// - Parameter attempt: nil for any.
    case extend(attempt: Int?, until: Int64)
    /// The attempt has failed. The next one may begin after the time that `retry` says, or `after`, in milliseconds.
    case fail(attempt: Int?, now: Int64, retry: TaskRetry, after: Int64?)
    /// The attempt did not begin, and does not count. The task is handed out again from that time on.
    case giveBack(attempt: Int, at: Int64)
    /// It is looked at again at that time: its journey cannot be asked at the moment.
    case putOff(to: Int64)
    /// The journey does not wait for it.
    case remove
}

/// What a commit of a session does to its tasks.
package enum TaskChange: Sendable {
    case begun(StoredTask)
    case ended(TaskID)
}

/// A request for tasks to be done.
package struct TaskClaim: Sendable {
    package let name: String
    package let limit: Int
    package let now: Int64
    /// When the lease ends.
    package let end: Int64
}

/// What a store has handed out.
package struct TaskClaims: Sendable {
    package let tasks: [StoredTask]
    /// When the next task of that name may be handed out, if one waits for its time.
    package let nextDue: Int64?

    package init(tasks: [StoredTask], nextDue: Int64?) {
        self.tasks = tasks
        self.nextDue = nextDue
    }
}

/// A part of the list of tasks, in the order of ids.
package struct TaskQuery: Sendable {
    /// Nil for all names.
    package var name: String?
    package var status: TaskStatus?
    package let now: Int64
    /// Only those after it.
    package var after: TaskID?
    package let limit: Int

    package func fits(_ task: StoredTask) -> Bool {
        (name.map { task.name.isExactly($0) } ?? true) && (status.map { $0 == task.status(at: now) } ?? true)
    }
}

/// Whether somebody works on a task.
package enum TaskStatus: String, Sendable, CaseIterable {
    /// It waits to be handed out, at once or after a while.
    case waiting
    /// It was handed out, and the lease runs.
    case claimed
}

extension StoredTask {
    package func status(at now: Int64) -> TaskStatus { isClaimed && due > now ? .claimed : .waiting }
}

/// A task, and what is to be done.
package struct ClaimedTask: Sendable {
    package let task: StoredTask
    package let input: JSONDocument
    package let userID: String?
    package let flow: String
    package let version: Int
    /// The journey's step.
    package let step: UInt64
}

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
