/// An element of a session's ``Pipeline``: a unit of work, or a caller that needs the session exclusively.
///
/// `@unchecked Sendable`: the thread that has the session's turn writes to it until it is submitted; from then on the
/// session's lock guards it.
final class QueuedWork: @unchecked Sendable {
    let session: Session
    /// Changes a copy of the state, maybe several times, each time another copy. Returns false when it threw, and the
    /// copy does not count. Nil for a caller that waits until nothing is under way, and keeps the turn until
    /// ``Session/endTurn()``.
    private let change: (@Sendable (inout PendingState) -> Bool)?
    /// Whether it may take long, whatever the size of the session.
    let isLong: Bool
    /// Whether it must not keep losing against other processes, see ``SessionStore/reserve(_:)``.
    let hasPrecedence: Bool
    /// See ``Session/transact(_:then:)``. With one it is a use of the session that was not counted before.
    let token: TokenDigest?
    /// Tells the caller, see ``conclude(_:)``.
    private let done: @Sendable (SessionError?) -> Void
    /// The next element of its list.
    fileprivate var next: QueuedWork?
    /// What it has made of the state; nil when it has not run, or it threw.
    var result: WorkResult?
    /// Whether the store has done its part, or has none.
    var isFinished = false
    /// Why the store refused it.
    var failure: StoreError?
    /// Whether publishing it gave the session its first ``JourneyMemory``.
    var isFirstMemory = false
    /// Whether the session was watched when it was published.
    var isWatched = false
    /// How often it lost against another process.
    var retries = 0
    /// Whether the session is reserved for it before it runs again. Its commit ends the reservation.
    var hasReserved: Bool { hasPrecedence && retries > 1 }

    init(
        in session: Session, isLong: Bool = false, hasPrecedence: Bool = false, presenting token: TokenDigest? = nil,
        _ change: (@Sendable (inout PendingState) -> Bool)?,
        then done: @escaping @Sendable (SessionError?) -> Void
    ) {
        self.session = session
        self.isLong = isLong
        self.hasPrecedence = hasPrecedence
        self.token = token
        self.change = change
        self.done = done
    }

    /// Whether the caller needs the session to itself.
    var isExclusive: Bool { change == nil }

    /// Whether it begins only when nothing is under way.
    var isAlone: Bool { isExclusive || session.environment.isShared }

    /// Tells the caller, once: nil when the result of ``change`` holds, or the caller has the turn.
    func conclude(_ refusal: SessionError?) {
        if hasReserved, refusal != nil || result?.record == nil { session.environment.store.release(session.id) }
        done(refusal)
    }

    /// Runs the unit of work.
    ///
    /// - Returns: false when it threw.
    func run(on pending: inout PendingState) -> Bool {
        isFinished = false
        failure = nil
        return change?(&pending) ?? false
    }
}

/// The next state of a session after a unit of work. A class, because the state is expensive to copy.
final class WorkResult: Sendable {
    let pending: PendingState
    /// `nil` when there is nothing to store.
    let commit: SessionCommit?

    init(_ pending: consuming PendingState, _ commit: SessionCommit?) {
        self.pending = pending
        self.commit = commit
    }

    var record: SessionRecord? { commit?.record }
}

extension SessionEnvironment {
    /// `nil` when there is nothing to store.
    func commit(of pending: borrowing PendingState) -> SessionCommit? {
        guard pending.isRecordChanged else { return nil }
        var commit = pending.commit()
        commit.newFlows = newFlows(in: commit, pending)
        return commit
    }
}

/// A queue that is linked through its elements.
struct WorkList {
    private(set) var first: QueuedWork?
    private var last: QueuedWork?
    private(set) var count = 0

    var isEmpty: Bool { first == nil }

    // Inlined, so that the compiler proves exclusive access and no run-time check is needed.
    @inline(__always)
    mutating func append(_ work: QueuedWork) {
        if let last { last.next = work } else { first = work }
        last = work
        count += 1
    }

    /// Inserts the element at the front.
    mutating func prepend(_ work: QueuedWork) {
        var list = WorkList()
        list.append(work)
        prepend(&list)
    }

    /// Moves all elements of another list to the front.
    mutating func prepend(_ others: inout WorkList) {
        guard let end = others.last else { return }
        end.next = first
        first = others.first
        if last == nil { last = end }
        count += others.count
        others = WorkList()
    }

    @inline(__always)
    mutating func popFirst() -> QueuedWork? {
        guard let work = first else { return nil }
        first = work.next
        work.next = nil
        if first == nil { last = nil }
        count -= 1
        return work
    }
}
