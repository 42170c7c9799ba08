import Synchronization
import Testing

@testable import Sessions

@Suite("Making sessions")
struct CreatingTests {
    @Test("who comes upon a session in the store before its maker has it gets the same one, counted once")
    func foundEarly() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 2 }
        defer { store.letGo() }
        let sessions = fixture.sessions
        let (found, finding) = AsyncStream.makeStream(of: Session?.self)
        store.afterCreate.withLock {
            $0 = { id in finding.yield(try? await sessions.session(id)) }
        }
        let session = try await fixture.session()
        for await early in found {
            #expect(early === session)
            break
        }
        #expect(sessions.statistics.live == 1)
        _ = try await fixture.session()
        #expect(sessions.statistics.live == 2)
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
    }

    @Test("one that is ended before its maker has it stays ended")
    func endedEarly() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        defer { store.letGo() }
        let sessions = fixture.sessions
        store.afterCreate.withLock {
            $0 = { id in
                guard let session = try? await sessions.session(id) else { return }
                _ = try? await sessions.end(session)
            }
        }
        let (session, token) = try await sessions.create()
        #expect(throws: SessionError.ended) { try session.summary() }
        #expect(try await !fixture.isAuthenticated(token))
        #expect(sessions.statistics.live == 0)
        #expect(try await store.load(session.id) == nil)
    }

    @Test("one that the store does not take leaves nothing behind")
    func refused() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 1 }
        store.beforeCreate.withLock { $0 = { _ throws(StoreError) in throw .full("no room") } }
        await #expect(throws: SessionError.storageFull(reason: "no room")) { try await fixture.session() }
        #expect(fixture.sessions.statistics.live == 0)
        #expect(fixture.sessions.statistics.created == 0)
        store.beforeCreate.withLock { $0 = nil }
        _ = try await fixture.session()
        #expect(fixture.sessions.statistics.live == 1)
    }

    @Test("where the store takes the id for another one, a further id is tried, a few times")
    func takenID() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store) { $0.maxSessions = 1 }
        let refused = Mutex<[SessionID]>([])
        store.beforeCreate.withLock {
            $0 = { session throws(StoreError) in
                let isFirst = refused.withLock { refused in
                    guard refused.isEmpty else { return false }
                    refused.append(session.record.id)
                    return true
                }
                if isFirst { throw .conflict }
            }
        }
        let (session, token) = try await fixture.sessions.create()
        #expect(token.sessionID == session.id && session.id > refused.withLock { $0[0] })
        #expect(try await fixture.isAuthenticated(token))
        #expect(fixture.sessions.statistics.live == 1 && fixture.sessions.statistics.created == 1)
        try await fixture.sessions.end(session)
        store.beforeCreate.withLock { $0 = { _ throws(StoreError) in throw .conflict } }
        await #expect(throws: SessionError.self) { try await fixture.session() }
        #expect(fixture.sessions.registry.total == 0)
    }

    @Test("there are never more than there may be, whichever way they are made")
    func limit() async throws {
        let fixture = try SessionsFixture { $0.maxSessions = 1 }
        #expect(try atOnce { fixture.sessions.create(then: $0) } != nil)
        await #expect(throws: SessionError.tooManySessions) { try await fixture.session() }
        // That has found no session that may end, so this does not search again.
        #expect(throws: SessionError.tooManySessions) { try atOnce { fixture.sessions.create(then: $0) } }
    }

    @Test("the operating system's random bytes never come twice, however many are asked for, also by many at once")
    func random() async {
        let random = SystemRandom()
        let drawn = await withTaskGroup(of: [[UInt8]].self) { group in
            for _ in 0..<4 {
                group.addTask {
                    (0..<500).map { number in
                        var bytes = [UInt8](repeating: 0, count: 16 + number % 241)
                        bytes.withUnsafeMutableBytes { random.fill($0) }
                        return bytes
                    }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        // Sixteen of them are as good as never the same, at either end, nor all zero.
        #expect(Set(drawn.map { Array($0.prefix(16)) }).count == drawn.count)
        #expect(Set(drawn.map { Array($0.suffix(16)) } + [[UInt8](repeating: 0, count: 16)]).count == drawn.count + 1)
    }
}
