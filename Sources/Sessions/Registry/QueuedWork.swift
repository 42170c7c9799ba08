/// An element of a session's ``Pipeline``: a unit of work, or a caller that needs the session exclusively.
///
/// `@unchecked Sendable`: the thread that has the session's turn writes to it until it is submitted; from then on the
/// session's lock guards it.
class QueuedWork: @unchecked Sendable {
    let session: Session
    /// The next element of its list.
    final fileprivate var next: QueuedWork?
    /// The state that it made; `nil` when it has not run, or it threw.
    final private(set) var result: WorkResult?
    /// Whether the store has finished, or has nothing to do.
    final var isFinished = false
    /// Why the store refused it.
    final var failure: StoreError?
    /// Whether publishing it gave the session its first ``JourneyMemory``.
    final var isFirstMemory = false
    /// How often it lost against another process.
    final var retries = 0

    init(in session: Session) { self.session = session }

    /// Whether it waits until nothing is in progress, and keeps the turn until ``Session/endTurn()``.
    var isExclusive: Bool { false }

    /// Changes a copy of the state. It may run again, on another copy.
    ///
    /// - Returns: false when it threw; then the copy is dropped.
    func change(_ pending: inout PendingState) -> Bool { true }

    /// Calls the caller back, once.
    ///
    /// - Parameter refusal: `nil` when the result of ``change(_:)`` is valid, or the caller has the turn.
    func conclude(_ refusal: SessionError?) {}

    /// Runs the unit of work.
    ///
    /// - Returns: `nil` when there is nothing to store.
    final func run(on start: consuming PendingState) -> SessionCommit? {
        isFinished = false
        failure = nil
        guard change(&start) else {
            result = nil
            return nil
        }
        let commit = session.environment.commit(of: start)
        result = WorkResult(pending: start, record: commit?.record, newFlows: commit?.newFlows ?? [])
        return commit
    }
}

/// The next state of a session after a unit of work. A class, because the state is expensive to copy.
final class WorkResult: Sendable {
    let pending: PendingState
    /// The record to store; `nil` when there is nothing to store.
    let record: SessionRecord?
    let newFlows: [UsedFlow]

    init(pending: consuming PendingState, record: SessionRecord?, newFlows: [UsedFlow]) {
        self.pending = pending
        self.record = record
        self.newFlows = newFlows
    }
}

/// A unit of work and the caller that waits for its result.
///
/// `@unchecked Sendable`: the thread that has the session's turn writes `value`; it is read after the unit has ended.
final class Transaction<Value: Sendable>: QueuedWork, @unchecked Sendable {
    private let body: @Sendable (inout PendingState) throws -> Value
    private let done: @Sendable (Result<Value, any Error>) -> Void
    /// Of the last run.
    private var value: Result<Value, any Error>?

    init(
        in session: Session, _ body: @escaping @Sendable (inout PendingState) throws -> Value,
        then done: @escaping @Sendable (Result<Value, any Error>) -> Void
    ) {
        self.body = body
        self.done = done
        super.init(in: session)
    }

    override func change(_ pending: inout PendingState) -> Bool {
        do {
            value = .success(try body(&pending))
            return true
        } catch {
            value = .failure(error)
            return false
        }
    }

    override func conclude(_ refusal: SessionError?) {
        done(refusal.map { .failure($0) } ?? value ?? .failure(SessionError.ended))
    }
}

/// A caller that needs the session exclusively.
///
/// `@unchecked Sendable`: it adds no mutable state.
final class ExclusiveTurn: QueuedWork, @unchecked Sendable {
    private let begin: @Sendable (SessionError?) -> Void

    /// - Parameter begin: called once; with `nil` the caller has the turn.
    init(in session: Session, _ begin: @escaping @Sendable (SessionError?) -> Void) {
        self.begin = begin
        super.init(in: session)
    }

    override var isExclusive: Bool { true }
    override func conclude(_ refusal: SessionError?) { begin(refusal) }
}

extension SessionEnvironment {
    /// `nil` when there is nothing to store.
    fileprivate func commit(of pending: borrowing PendingState) -> SessionCommit? {
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
