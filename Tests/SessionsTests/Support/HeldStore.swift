import Sessions
import Synchronization

/// A memory store that keeps commits back until a test lets go of them.
final class HeldStore: SessionStore {
    let inner = MemoryStore()
    let isShared: Bool
    private let held = Mutex<[Held]>([])
    private let isOpen = Atomic(false)

    private typealias Held = (commit: SessionCommit, done: @Sendable (StoreError?) -> Void)

    init(isShared: Bool = false) { self.isShared = isShared }

    /// Commits that were asked for and are not done.
    var heldCount: Int { held.withLock { $0.count } }

    func wait(for count: Int) async {
        for _ in 0..<100_000 where heldCount < count { await Task.yield() }
    }

    /// From now on commits are done as they come.
    func open() {
        isOpen.store(true, ordering: .relaxed)
        release()
    }

    /// From now on commits are kept back.
    func keepBack() { isOpen.store(false, ordering: .relaxed) }

    /// Does those that came first, and calls back.
    ///
    /// - Parameters:
    ///   - refusal: what they are refused with.
    ///   - isDone: whether a commit that is refused is done all the same, as when a sync fails.
    func release(
        _ count: Int = .max, with refusal: StoreError? = nil, isDone: Bool = false, backwards: Bool = false
    ) {
        let released = held.withLock { held in
            defer { held.removeFirst(min(count, held.count)) }
            return Array(held.prefix(count))
        }
        // What the next one was made from, if that was refused: another process may have come to the same revision.
        var refused: UInt64?
        var outcomes = released.map { commit, done in
            let isRefused = refused == commit.replacedRevision || refusal != nil && !isDone
            let error = isRefused ? .conflict : apply(commit)
            refused = error == nil ? nil : commit.record.revision
            return (done: done, error: error)
        }
        if backwards { outcomes.reverse() }
        for outcome in outcomes { outcome.done(refusal ?? outcome.error) }
    }

    private func apply(_ commit: SessionCommit) -> StoreError? {
        let outcome = Mutex<StoreError?>(nil)
        inner.commit(commit) { error in outcome.withLock { $0 = error } }
        return outcome.withLock { $0 }
    }

    func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        guard !isOpen.load(ordering: .relaxed) else { return inner.commit(commit, then: done) }
        held.withLock { $0.append((commit, done)) }
    }

    func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        inner.create(session, telling: notice, then: done)
    }
    func receive(_ arrival: SessionArrival) async throws(StoreError) { try await inner.receive(arrival) }
    func load(_ id: SessionID) async throws(StoreError) -> StoredSession? { try await inner.load(id) }
    var replays: any ReplayStore { inner }
    var journeyIndex: any JourneyIndex { inner }
    var sessionCount: Int { inner.sessionCount }
    var documentBytes: DocumentBytes? { inner.documentBytes }
    func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        try await inner.endExpired(query)
    }
    func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims { try await inner.claimTasks(claim) }
    func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
        try await inner.updateTask(id, update)
    }
    func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
        try await inner.dueSessions(now: now, limit: limit)
    }
    func putOff(_ due: DueSession, to time: Int64) async throws(StoreError) {
        try await inner.putOff(due, to: time)
    }
    func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask] {
        try await inner.overdueTasks(now: now, limit: limit)
    }
    func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask] { try await inner.tasks(query) }

    func touch(_ uses: [SessionUse]) async throws(StoreError) { try await inner.touch(uses) }
    func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        try await inner.end(id, as: standing, telling: notice)
    }
    func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await inner.sessions(ofUser: userID)
    }
    func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        try await inner.page(after: id, limit: limit)
    }
}
