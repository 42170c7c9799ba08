import Synchronization

@testable import Sessions

/// A memory store that several processes share, each through a ``Door`` of its own.
final class SharedStore: Sendable {
    fileprivate let inner = MemoryStore()
    private let followers = Mutex<[(door: Int, id: SessionID, changed: @Sendable () -> Void)]>([])
    private let doors = Atomic<Int>(0)

    /// Puts a former state of a session in the place of its present one, as a server of the store that has not got the
    /// last commits and takes the place of another one.
    func lose(since former: StoredSession) async throws {
        let id = former.record.id
        let present = try await inner.load(id)?.record.revision
        try await inner.receive(SessionArrival(session: former, replacedRevision: present, newFlows: [], tasks: []))
    }

    func door() -> Door { Door(self, doors.wrappingAdd(1, ordering: .relaxed).newValue) }

    fileprivate func tell(_ id: SessionID) {
        let told = followers.withLock { $0.filter { $0.id == id } }
        for follower in told { follower.changed() }
    }

    /// What one process sees of it.
    final class Door: SessionStore {
        private let hub: SharedStore
        private let number: Int
        /// How often a session was asked for as a whole, and where it stands.
        let loads = Atomic<Int>(0)
        let looks = Atomic<Int>(0)
        let commits = Atomic<Int>(0)

        /// Looks, loads and commits.
        var calls: [Int] {
            [looks.load(ordering: .relaxed), loads.load(ordering: .relaxed), commits.load(ordering: .relaxed)]
        }

        /// Called before each look and each end, and before and after each load.
        let beforeLook = Mutex<(@Sendable () throws(StoreError) -> Void)?>(nil)
        let beforeLoad = Mutex<(@Sendable () async -> Void)?>(nil)
        let beforeEnd = Mutex<(@Sendable () async throws(StoreError) -> Void)?>(nil)
        let afterLoad = Mutex<(@Sendable () async -> Void)?>(nil)

        fileprivate init(_ hub: SharedStore, _ number: Int) {
            self.hub = hub
            self.number = number
        }

        let era = Atomic<Int>(0)

        var isShared: Bool { true }
        var generation: Int { era.load(ordering: .relaxed) }
        var replays: any ReplayStore { hub.inner }
        var journeyIndex: any JourneyIndex { hub.inner }
        var sessionCount: Int { hub.inner.sessionCount }

        func follow(_ id: SessionID, _ changed: @escaping @Sendable () -> Void) {
            hub.followers.withLock { $0.append((number, id, changed)) }
        }

        func unfollow(_ id: SessionID) {
            hub.followers.withLock { $0.removeAll { $0.door == number && $0.id == id } }
        }

        func standing(of id: SessionID) async throws(StoreError) -> SessionStanding? {
            looks.wrappingAdd(1, ordering: .relaxed)
            try beforeLook.withLock(\.self)?()
            return try await hub.inner.standing(of: id)
        }

        func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
            loads.wrappingAdd(1, ordering: .relaxed)
            await beforeLoad.withLock(\.self)?()
            let session = try await hub.inner.load(id)
            await afterLoad.withLock(\.self)?()
            return session
        }

        func create(
            _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
        ) {
            hub.inner.create(session, telling: notice, then: done)
        }

        func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
            commits.wrappingAdd(1, ordering: .relaxed)
            let id = commit.record.id
            hub.inner.commit(commit) { [hub] failure in
                guard case .conflict = failure else {
                    done(failure)
                    return hub.tell(id)
                }
                Task {
                    let newer = try? await hub.inner.load(id)
                    done(.overtaken { newer })
                }
            }
        }

        func receive(_ arrival: SessionArrival) async throws(StoreError) {
            try await hub.inner.receive(arrival)
            hub.tell(arrival.session.record.id)
        }

        func touch(_ uses: [SessionUse]) async throws(StoreError) { try await hub.inner.touch(uses) }

        func end(
            _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
        ) async throws(StoreError) -> Bool {
            try await beforeEnd.withLock(\.self)?()
            defer { hub.tell(id) }
            return try await hub.inner.end(id, as: standing, telling: notice)
        }

        /// Sessions that a server of an earlier version was the last to write.
        let untimed = Mutex<[SessionID]>([])

        func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
            for id in untimed.withLock(\.self) { query.onUntimed?(id) }
            return try await hub.inner.endExpired(query)
        }

        func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims {
            try await hub.inner.claimTasks(claim)
        }

        func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
            try await hub.inner.updateTask(id, update)
        }

        func dueSessions(now: Int64, limit: Int) async throws(StoreError) -> [DueSession] {
            try await hub.inner.dueSessions(now: now, limit: limit)
        }
        func putOff(_ due: DueSession, to time: Int64) async throws(StoreError) {
            try await hub.inner.putOff(due, to: time)
        }
        func overdueTasks(now: Int64, limit: Int) async throws(StoreError) -> [StoredTask] {
            try await hub.inner.overdueTasks(now: now, limit: limit)
        }

        func tasks(_ query: TaskQuery) async throws(StoreError) -> [StoredTask] { try await hub.inner.tasks(query) }

        func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
            try await hub.inner.sessions(ofUser: userID)
        }

        func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
            try await hub.inner.page(after: id, limit: limit)
        }
    }
}
