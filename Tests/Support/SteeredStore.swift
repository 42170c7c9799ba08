import Sessions
import Synchronization

/// A memory store that fails, or holds up who asks it, as a test wants.
package final class SteeredStore: SessionStore {
    package enum Call: Sendable { case create, load, commit, end, list }
    package typealias Step = @Sendable (Call) async throws(StoreError) -> Void

    private let inner: any SessionStore
    private let step = Mutex<Step?>(nil)
    private let loaded = Mutex<(@Sendable (StoredSession) -> StoredSession)?>(nil)

    private let failure = Mutex<String?>(nil)
    /// The last one of each session: the next is done after it.
    private let commits = Mutex<[SessionID: Task<Void, Never>]>([:])

    package init(_ inner: any SessionStore = MemoryStore()) { self.inner = inner }

    /// What comes before each call from now on; nil for nothing.
    package func before(_ step: Step?) { self.step.withLock { $0 = step } }

    /// Changes what is loaded from now on.
    package func afterLoad(_ change: @escaping @Sendable (StoredSession) -> StoredSession) {
        loaded.withLock { $0 = change }
    }

    package var trouble: String? { failure.withLock { $0 } }

    /// What it says is wrong with it from now on; nil for nothing.
    package func fail(_ sentence: String?) { failure.withLock { $0 = sentence } }

    package func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        Task {
            do throws(StoreError) {
                try await take(.create)
                try await inner.create(session, telling: notice)
                done(nil)
            } catch {
                done(error)
            }
        }
    }

    package func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        try await take(.load)
        let change = loaded.withLock { $0 }
        return try await inner.load(id).map { change?($0) ?? $0 }
    }

    package func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        commits.withLock { commits in
            let former = commits[commit.record.id]
            commits[commit.record.id] = Task {
                await former?.value
                do throws(StoreError) {
                    try await take(.commit)
                    try await inner.commit(commit)
                    done(nil)
                } catch {
                    done(error)
                }
            }
        }
    }

    package var replays: any ReplayStore { inner.replays }
    package var journeyIndex: any JourneyIndex { inner.journeyIndex }
    package var sessionCount: Int { inner.sessionCount }
    package var documentBytes: DocumentBytes? { inner.documentBytes }

    package func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        try await inner.endExpired(query)
    }

    package func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims {
        try await inner.claimTasks(claim)
    }
    package func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
        try await inner.updateTask(id, update)
    }
    package func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
        try await inner.dueSessions(now: now, limit: limit)
    }
    package func putOff(_ due: DueSession, to time: Int64) async throws(StoreError) {
        try await inner.putOff(due, to: time)
    }
    package func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask] {
        try await inner.overdueTasks(now: now, limit: limit)
    }
    package func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask] { try await inner.tasks(query) }

    package func usedFlows() async throws(StoreError) -> [UsedFlow]? { try await inner.usedFlows() }

    package func replaceUsedFlows(_ flows: [UsedFlow]) async throws(StoreError) {
        try await inner.replaceUsedFlows(flows)
    }

    package func receive(_ arrival: SessionArrival) async throws(StoreError) {
        try await take(.create)
        try await inner.receive(arrival)
    }

    package func touch(_ uses: [SessionUse]) async throws(StoreError) { try await inner.touch(uses) }

    package func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        try await take(.end)
        return try await inner.end(id, as: standing, telling: notice)
    }

    package func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await take(.list)
        return try await inner.sessions(ofUser: userID)
    }

    package func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        try await take(.list)
        return try await inner.page(after: id, limit: limit)
    }

    private func take(_ call: Call) async throws(StoreError) {
        let step = step.withLock { $0 }
        try await step?(call)
    }
}
