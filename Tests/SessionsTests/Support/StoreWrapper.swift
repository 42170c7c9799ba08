import Glibc
import Sessions
import Synchronization

/// A memory store that does something before, or instead of, what it is asked.
final class StoreWrapper: SessionStore {
    let inner = MemoryStore()
    let outlivesProcess: Bool
    /// The last commit of each session: the next is done after it.
    private let commits = Mutex<[SessionID: Task<Void, Never>]>([:])
    /// The name of the thread that handed in the last commit.
    let committer = Mutex("")
    /// Called before each commit.
    let beforeCommit = Mutex<(@Sendable (SessionCommit) async throws(StoreError) -> Void)?>(nil)
    /// Called when the store has ended expired sessions.
    let afterExpiry = Mutex<(@Sendable () -> Void)?>(nil)
    /// Called when a session is in the store and its maker does not know yet.
    let afterCreate = Mutex<(@Sendable (SessionID) async -> Void)?>(nil)
    /// Whether what is kept of a task cannot be noted.
    let refusesToHold = Mutex(false)
    let endFailure = Mutex<StoreError?>(nil)
    /// Called before each end.
    let beforeEnd = Mutex<(@Sendable () async -> Void)?>(nil)
    let afterLoad = Mutex<(@Sendable () async -> Void)?>(nil)

    init(outlivesProcess: Bool = true) { self.outlivesProcess = outlivesProcess }

    /// A test whose own fixture is used by what the store does ends with it: each would keep the other alive.
    func letGo() {
        beforeCommit.withLock { $0 = nil }
        afterCreate.withLock { $0 = nil }
        beforeEnd.withLock { $0 = nil }
        beforeLoad.withLock { $0 = nil }
        afterLoad.withLock { $0 = nil }
    }

    /// Called before each create.
    let beforeCreate = Mutex<(@Sendable (StoredSession) throws(StoreError) -> Void)?>(nil)

    func create(
        _ session: StoredSession, telling notice: StoredTask?, then done: @escaping @Sendable (StoreError?) -> Void
    ) {
        Task {
            do throws(StoreError) {
                try beforeCreate.withLock { $0 }?(session)
                try await inner.create(session, telling: notice)
                await afterCreate.withLock { $0 }?(session.record.id)
                done(nil)
            } catch {
                done(error)
            }
        }
    }

    func receive(_ arrival: SessionArrival) async throws(StoreError) { try await inner.receive(arrival) }

    /// Called before each load.
    let beforeLoad = Mutex<(@Sendable (SessionID) async throws(StoreError) -> Void)?>(nil)
    /// Called before uses are written.
    let beforeTouch = Mutex<(@Sendable ([SessionUse]) throws(StoreError) -> Void)?>(nil)
    let loadCount = Atomic<Int>(0)

    func load(_ id: SessionID) async throws(StoreError) -> StoredSession? {
        loadCount.wrappingAdd(1, ordering: .relaxed)
        let before = beforeLoad.withLock { $0 }
        try await before?(id)
        let session = try await inner.load(id)
        await afterLoad.withLock { $0 }?()
        return session
    }

    /// proc(5).
    private static func threadName() -> String {
        guard let file = fopen("/proc/thread-self/comm", "r") else { return "" }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 16)
        let count = fread(&bytes, 1, bytes.count, file)
        return String(decoding: bytes[..<count].prefix { $0 != 0x0A }, as: UTF8.self)
    }

    func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        committer.withLock { $0 = Self.threadName() }
        commits.withLock { commits in
            let former = commits[commit.record.id]
            commits[commit.record.id] = Task {
                await former?.value
                let before = beforeCommit.withLock { $0 }
                do throws(StoreError) {
                    try await before?(commit)
                    try await inner.commit(commit)
                    done(nil)
                } catch {
                    done(error)
                }
            }
        }
    }

    /// Whether the session is reserved; false once it was given up.
    let isReserved = Mutex<Bool?>(nil)

    func reserve(_ id: SessionID) async throws(StoreError) { isReserved.withLock { $0 = true } }
    func release(_ id: SessionID) { isReserved.withLock { $0 = false } }

    var replays: any ReplayStore { inner }
    var journeyIndex: any JourneyIndex { inner }
    var sessionCount: Int { inner.sessionCount }
    var documentBytes: DocumentBytes? { inner.documentBytes }

    func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        let expired = try await inner.endExpired(query)
        afterExpiry.withLock(\.self)?()
        return expired
    }

    func claimTasks(_ claim: TaskClaim) async throws(StoreError) -> TaskClaims { try await inner.claimTasks(claim) }
    func updateTask(_ id: TaskID, _ update: TaskUpdate) async throws(StoreError) -> StoredTask? {
        if refusesToHold.withLock(\.self) {
            switch update {
            case .hold, .keep: throw .unavailable("gone")
            default: break
            }
        }
        return try await inner.updateTask(id, update)
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

    func touch(_ uses: [SessionUse]) async throws(StoreError) {
        try beforeTouch.withLock { $0 }?(uses)
        try await inner.touch(uses)
    }

    func end(
        _ id: SessionID, as standing: SessionStanding?, telling notice: StoredTask?
    ) async throws(StoreError) -> Bool {
        if let failure = endFailure.withLock({ $0 }) { throw failure }
        await beforeEnd.withLock { $0 }?()
        return try await inner.end(id, as: standing, telling: notice)
    }

    func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await inner.sessions(ofUser: userID)
    }

    /// Changes the pages that are read from now on.
    let afterPage = Mutex<(@Sendable (SessionPage) -> SessionPage)?>(nil)

    func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        let page = try await inner.page(after: id, limit: limit)
        return afterPage.withLock { $0 }?(page) ?? page
    }
}
