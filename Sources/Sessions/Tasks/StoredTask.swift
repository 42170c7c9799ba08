import JSONDocument
import Navigation

/// A task as a store keeps it: where it stands. What is to be done is in the journey, which the session's record has,
/// or in its ``notice``.
///
/// All times are steady time, in milliseconds; `Int64.max` is never.
package struct StoredTask: Sendable, Equatable {
    package let id: TaskID
    package let name: String
    /// The most attempts.
    package private(set) var attempts: Int
    package let createdAt: Int64
    /// The number of attempts that have begun.
    package private(set) var attempt: Int
    /// From when it may be handed out, if an attempt is left: for one that was handed out, the end of the lease.
    package private(set) var due: Int64
    /// Whether the last attempt may still be under way, until ``due``.
    package private(set) var isClaimed: Bool
    /// Whether its journey keeps a result of it that could not be taken. Then it is not handed out any more: the work
    /// was done.
    package private(set) var isKept: Bool
    /// What a task says that belongs to no journey; nil for all others.
    package let notice: SessionNotice?
    /// The user whom it names, which need not be that of its session any more: of a notice, or of a task for which no
    /// journey waits. Nil when it is about the session's user, or about nobody.
    package let userID: String?

    package init(
        id: TaskID, name: String, attempts: Int, createdAt: Int64, attempt: Int = 0, due: Int64,
        isClaimed: Bool = false, isKept: Bool = false, notice: SessionNotice? = nil, userID: String? = nil
    ) {
        self.id = id
        self.name = name
        self.attempts = attempts
        self.createdAt = createdAt
        self.attempt = attempt
        self.due = due
        self.isClaimed = isClaimed
        self.isKept = isKept
        self.notice = notice
        self.userID = notice?.userID ?? userID
    }

    /// Whether no attempt is left.
    package var isExhausted: Bool { attempt >= attempts }

    /// From when it is to be handed out: what a store looks for by ``name``.
    package var readyAt: Int64 { isExhausted || isKept ? .max : due }

    /// When the lease of its last attempt, or of one that has left a result, is over. The end of the task's own time is
    /// its journey's, or if it has none, this one. A held result is never looked at: an operator has to.
    package var overAt: Int64 { notice?.endsAt ?? ((isKept ? isClaimed : isExhausted) ? due : .max) }

    /// Whether it may be handed out.
    package func isReady(at now: Int64) -> Bool { readyAt <= now }

    /// Whether a worker with that attempt has the task; nil when the worker does not say.
    package func isOn(_ attempt: Int?) -> Bool { attempt == nil || attempt == self.attempt }

    /// The task as far as another one is whose place it takes: a worker's lease goes on, and no attempt is forgotten.
    func going(on former: StoredTask) -> StoredTask {
        StoredTask(
            id: id, name: name, attempts: former.attempts, createdAt: former.createdAt, attempt: former.attempt,
            due: former.due, isClaimed: former.isClaimed, isKept: isKept, userID: userID)
    }

    /// The same, but for when it may be handed out.
    func ready(at time: Int64) -> StoredTask {
        var task = self
        task.due = time
        return task
    }

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
            guard isOn(attempt), self.attempt > 0 else { return }
            due = now.later(by: after ?? retry.delay(afterAttempt: self.attempt))
            isClaimed = false
        case .giveBack(let attempt, let time):
            guard isClaimed, isOn(attempt) else { return }
            self.attempt -= 1
            due = time
            isClaimed = false
        case .putOff(let time): due = time
        case .reserve(let now, let end): if !isClaimed || due <= now { due = end }
        case .keep(let now):
            isKept = true
            due = min(due, now.later(by: Self.longestLease))
        case .hold:
            isKept = true
            isClaimed = false
        case .hasten(let now):
            due = now
            isClaimed = false
            attempts = max(attempts, attempt + 1)
        case .look, .remove: break
        }
    }

    /// How long a better result may be waited for, in milliseconds: the longest lease that a worker can ask for. That
    /// of a task that was sent has no end.
    package static let longestLease: Int64 = 86_400_000
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
    /// It is not handed out before that time, unless a worker has it.
    case reserve(now: Int64, until: Int64)
    /// Its journey keeps a result. A better one may come until the lease ends.
    case keep(now: Int64)
    /// Its journey keeps a result, and only an operator ends it.
    case hold
    /// An operator wants the next attempt now; one more if none is left.
    case hasten(now: Int64)
    /// Nothing.
    case look
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
    /// Nil for those of all sessions.
    package var session: SessionID?
    /// Only those that began before that time; nil for all.
    package var before: Int64?
    package var naming = Naming.anybody
    package let now: Int64
    /// Only those after it.
    package var after: TaskID?
    package let limit: Int

    package init(
        name: String? = nil, status: TaskStatus? = nil, session: SessionID? = nil, before: Int64? = nil, now: Int64,
        after: TaskID? = nil, limit: Int
    ) {
        (self.name, self.status, self.session, self.before) = (name, status, session, before)
        (self.now, self.after, self.limit) = (now, after, limit)
    }

    /// Whom the tasks name (``StoredTask/userID``).
    package enum Naming: Sendable {
        case anybody, nobody
        case user(String)
    }

    /// The user whom all of them name; nil for any.
    package var user: String? { if case .user(let user) = naming { user } else { nil } }

    private func names(_ user: String?) -> Bool {
        switch naming {
        case .anybody: true
        case .nobody: user == nil
        case .user(let wanted): user?.isExactly(wanted) ?? false
        }
    }

    /// Where the part begins: after that id. Nil for the first of all.
    package var start: TaskID? {
        guard let session else { return after }
        let first = TaskID(session: session, journey: "", number: 0)
        return after.map { max($0, first) } ?? first
    }

    package func fits(_ task: StoredTask) -> Bool {
        (name.map { task.name.isExactly($0) } ?? true) && (status.map { $0 == task.status(at: now) } ?? true)
            && (session.map { $0 == task.id.session } ?? true) && (before.map { task.createdAt < $0 } ?? true)
            && names(task.userID)
    }
}

/// Whether somebody works on a task.
package enum TaskStatus: String, Sendable, CaseIterable {
    /// It waits to be handed out, at once or after a while.
    case waiting
    /// It was handed out, and the lease runs.
    case claimed
    /// A result that could not be taken is kept, and an operator has to end it.
    case held
}

extension StoredTask {
    package func status(at now: Int64) -> TaskStatus {
        isClaimed && due > now ? .claimed : isKept ? .held : .waiting
    }
}

/// A task, and what is to be done.
package struct ClaimedTask: Sendable {
    package let task: StoredTask
    package let input: JSONDocument
    package let userID: String?
    /// The flow and the step of its journey; nil for a notice.
    package let place: (flow: String, version: Int, step: UInt64)?
}

/// Why nothing was done with a task, apart from what its flow has to say: that is a `JourneyRefusal`.
package enum TaskError: Error, Sendable, Equatable {
    /// No task has that id.
    case notFound
    /// It has ended: by a result, by its time, or because the journey has left it.
    case over
    /// The caller has no lease: no attempt is in progress, or a later one is.
    case notClaimed
    /// A result of it is kept, which only an operator can end.
    case held
}

extension TaskError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .notFound: "There is no such task."
        case .over: "The task is over. Nothing was changed."
        case .held: "A result of the task is kept until an operator ends it. No attempt is made any more."
        case .notClaimed: "This worker holds no lease on the task. Claim it first."
        }
    }
}
