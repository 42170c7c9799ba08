import Synchronization

/// An element of a session's ``Pipeline``: a unit of work, or a caller that needs the session to itself.
///
/// `@unchecked Sendable`: the thread that has the session's turn writes to it until it is submitted; from then on the
/// session's lock guards it.
final class QueuedWork: @unchecked Sendable {
    let session: Session
    /// Nil for a caller that needs the session to itself: it has it from the moment it is told until
    /// ``Session/endTurn()``.
    private let body: Body?
    /// The next element of its list.
    fileprivate var next: QueuedWork?
    /// What it has made of the state; nil when it has not run, or its body threw.
    private(set) var result: WorkResult?
    /// Whether the store has done its part, or has none.
    var isFinished = false
    /// Why it failed.
    var failure: StoreError?
    /// Whether publishing it gave the session its first ``JourneyMemory``.
    var isFirstMemory = false
    /// How often it lost against another process.
    var retries = 0
    private let end: Mutex<End>

    /// Changes a copy of the state. May run again, on another copy.
    ///
    /// - Returns: false when it threw, and the copy does not count.
    typealias Body = @Sendable (inout PendingState) -> Bool
    /// Called once: with nil when the result of the body holds.
    typealias Completion = @Sendable (SessionError?) -> Void

    private enum End {
        /// The caller does not wait yet.
        case open
        case awaited(Completion)
        case reached(SessionError?)
    }

    init(in session: Session, _ body: Body?, then completion: Completion? = nil) {
        self.session = session
        self.body = body
        let end: End = if let completion { .awaited(completion) } else { .open }
        self.end = Mutex(end)
    }

    /// Whether it waits until nothing is under way, and keeps its turn then.
    var isExclusive: Bool { body == nil }

    /// Runs the body.
    ///
    /// - Returns: nil when there is nothing to store.
    func run(on start: consuming PendingState) -> SessionCommit? {
        isFinished = false
        failure = nil
        guard body?(&start) == true else {
            result = nil
            return nil
        }
        let commit = session.environment.commit(of: start)
        result = WorkResult(pending: start, record: commit?.record, newFlows: commit?.newFlows ?? [])
        return commit
    }

    /// Ends it. The first call counts.
    func tell(_ error: SessionError?) {
        let former = end.withLock { end in
            defer { if case .reached = end {} else { end = .reached(error) } }
            return end
        }
        if case .awaited(let completion) = former { completion(error) }
    }

    /// Nil until it has ended.
    var outcome: Result<Void, SessionError>? {
        end.withLock { end in
            guard case .reached(let error) = end else { return nil }
            return error.map { .failure($0) } ?? .success(())
        }
    }

    /// Has the end told when it comes, or at once if it has come.
    func whenEnded(_ completion: @escaping Completion) {
        let former = end.withLock { end in
            defer { if case .open = end { end = .awaited(completion) } }
            return end
        }
        if case .reached(let error) = former { completion(error) }
    }
}

/// What a unit of work has made of a session's state.
final class WorkResult: Sendable {
    let pending: PendingState
    /// Nil when there is nothing to store.
    let record: SessionRecord?
    let newFlows: [UsedFlow]

    init(pending: consuming PendingState, record: SessionRecord?, newFlows: [UsedFlow]) {
        self.pending = pending
        self.record = record
        self.newFlows = newFlows
    }
}

extension SessionEnvironment {
    /// Nil when there is nothing to store.
    func commit(of pending: borrowing PendingState) -> SessionCommit? {
        guard pending.isRecordChanged else { return nil }
        var commit = pending.commit()
        commit.newFlows = newFlows(in: commit, pending)
        return commit
    }
}

/// The body of a unit of work and the result of its last run.
///
/// `@unchecked Sendable`: it runs under the session's turn; its result is read after the end was told.
final class Attempt<Value: Sendable>: @unchecked Sendable {
    private let body: @Sendable (inout PendingState) throws -> Value
    private var value: Value?
    private var error: (any Error)?

    init(_ body: @escaping @Sendable (inout PendingState) throws -> Value) { self.body = body }

    func run(on pending: inout PendingState) -> Bool {
        do {
            value = try body(&pending)
            error = nil
            return true
        } catch {
            self.error = error
            return false
        }
    }

    /// The result of the last run.
    func get() throws -> Value {
        if let error { throw error }
        guard let value else { throw SessionError.ended }
        return value
    }

    /// - Parameter refusal: takes the place of the result.
    func outcome(or refusal: SessionError?) -> Result<Value, any Error> {
        Result {
            if let refusal { throw refusal }
            return try get()
        }
    }
}

/// A queue, linked through its elements.
struct WorkList {
    private(set) var first: QueuedWork?
    private var last: QueuedWork?
    private(set) var count = 0

    var isEmpty: Bool { first == nil }

    // Inlined: the compiler then proves that accesses do not overlap, and the program need not check.
    @inline(__always)
    mutating func append(_ work: QueuedWork) {
        if let last { last.next = work } else { first = work }
        last = work
        count += 1
    }

    /// Puts it before the others.
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
