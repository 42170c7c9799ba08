import Sessions
import Synchronization

/// A memory store that does its part on another thread, and calls back.
final class CallingStore: CallingSessionStore {
    let inner = MemoryStore()
    /// What commits are refused with from now on; nil for nothing.
    let refusal = Mutex<StoreError?>(nil)

    typealias Outcome = ServiceOperation.Outcome

    /// Begins something that is done later, and gives what brings it to its end.
    func begin(
        _ body: (@escaping Session.LateEnd<Outcome>) throws -> Outcome?
    ) async throws -> @Sendable () throws -> Outcome? {
        let (ends, continuation) = AsyncStream.makeStream(of: (@Sendable () throws -> Outcome?).self)
        guard try body({ end in continuation.yield(end) }) == nil else { throw NotLater() }
        for await end in ends { return end }
        throw NotLater()
    }

    struct NotLater: Error {}

    func commit(_ commit: SessionCommit, then done: @escaping @Sendable (StoreError?) -> Void) {
        let refusal = refusal.withLock { $0 }
        Task {
            do throws(StoreError) {
                if let refusal { throw refusal }
                try inner.commitAtOnce(commit)
                done(nil)
            } catch {
                done(error)
            }
        }
    }

    func create(_ session: StoredSession) async throws(StoreError) { try await inner.create(session) }
    func receive(_ arrival: SessionArrival) async throws(StoreError) { try await inner.receive(arrival) }
    func load(_ id: SessionID) async throws(StoreError) -> StoredSession? { try await inner.load(id) }
    var sessionCount: Int { inner.sessionCount }
    func endExpired(_ query: ExpiryQuery) async throws(StoreError) -> ExpiredSessions {
        try await inner.endExpired(query)
    }
    func touch(_ uses: [SessionUse]) async throws(StoreError) { try await inner.touch(uses) }
    func end(_ id: SessionID) async throws(StoreError) -> Bool { try await inner.end(id) }
    func sessions(ofUser userID: String) async throws(StoreError) -> [StoredSession] {
        try await inner.sessions(ofUser: userID)
    }
    func page(after id: SessionID?, limit: Int) async throws(StoreError) -> SessionPage {
        try await inner.page(after: id, limit: limit)
    }
}
