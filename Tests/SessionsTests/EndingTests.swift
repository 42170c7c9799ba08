import Synchronization
import Testing

@testable import Sessions

/// When an end is seen: not before the store has it, for a crash could bring the session back.
@Suite struct EndingTests {
    private let store = StoreWrapper()
    private let fixture: SessionsFixture

    init() throws { fixture = try SessionsFixture(store: store) }

    /// Waits until so many wait for a turn; gives up when they do not come.
    private static func wait(for count: Int, in session: Session) async {
        for _ in 0..<100_000 where session.waitingCount < count { await Task.yield() }
        #expect(session.waitingCount == count)
    }

    private func write(_ number: Int, to session: Session) -> Task<Void, any Error> {
        Task { [fixture] in try await fixture.perform(.put(["count": .init(number)]), on: "counter", session) }
    }

    @Test("until the store has it, a session is there for everybody, and writes wait")
    func seenWhenStored() async throws {
        let (session, token) = try await fixture.sessions.create()
        defer { store.letGo() }
        let writer = Mutex<Task<Void, any Error>?>(nil)
        store.beforeEnd.withLock {
            $0 = { [self] in
                #expect((try? await fixture.isAuthenticated(token)) == true)
                #expect((try? await fixture.sessions.session(session.id)) != nil)
                #expect((try? fixture.get("profile", session)) != nil)
                writer.withLock { $0 = write(1, to: session) }
                await Self.wait(for: 1, in: session)
            }
        }
        #expect(try await fixture.sessions.end(session))
        await #expect(throws: SessionError.ended) { try await writer.withLock { $0 }?.value }
        #expect(try await !fixture.isAuthenticated(token))
        #expect(try await store.load(session.id) == nil)
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
    }

    @Test("what is being written is done before, and what waits behind it is refused")
    func order() async throws {
        let (session, token) = try await fixture.sessions.create()
        defer { store.letGo() }
        let others = Mutex<(end: Task<Bool, any Error>, writer: Task<Void, any Error>)?>(nil)
        store.beforeCommit.withLock {
            $0 = { [self] _ in
                guard others.withLock({ $0 == nil }) else { return }
                let end = Task { try await fixture.sessions.end(session) }
                await Self.wait(for: 1, in: session)
                let writer = write(2, to: session)
                await Self.wait(for: 2, in: session)
                others.withLock { $0 = (end, writer) }
            }
        }
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        let (end, writer) = try #require(others.withLock { $0 })
        #expect(try await end.value)
        await #expect(throws: SessionError.ended) { try await writer.value }
        #expect(try await !fixture.isAuthenticated(token))
        #expect(try await store.load(session.id) == nil)
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
    }

    @Test("of several who end it at once one does")
    func several() async throws {
        let session = try await fixture.session()
        defer { store.letGo() }
        store.beforeEnd.withLock { $0 = { await Self.wait(for: 4, in: session) } }
        let ends = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 { group.addTask { [fixture] in (try? await fixture.sessions.end(session)) == true } }
            return await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(ends == 1)
        #expect(fixture.sessions.statistics.ended == 1)
    }

    @Test("when the store cannot be told of a theft, nobody gets in and nobody is told that it ended; later it does")
    func held() async throws {
        let (session, old) = try await fixture.sessions.create()
        let spy = try ChangeSpy(session)
        let fresh = try await fixture.sessions.rotate(session)
        fixture.clock.advance(30_000)
        store.endFailure.withLock { $0 = .unavailable("x") }
        #expect(try await !fixture.isAuthenticated(old))
        for _ in 0..<2 {
            await #expect(throws: SessionError.storeUnavailable(reason: Sessions.heldReason)) {
                try await fixture.sessions.authenticate(fresh.presented)
            }
            #expect(throws: SessionError.storeUnavailable(reason: Sessions.heldReason)) {
                try fixture.sessions.find(fresh.presented)
            }
            // As it is for who starts after a crash.
            #expect(try await store.load(session.id) != nil)
            fixture.clock.advance(1_000)
            await fixture.sessions.sweep()
        }
        store.endFailure.withLock { $0 = nil }
        fixture.clock.advance(1_000)
        await fixture.sessions.sweep()
        #expect(try await !fixture.isAuthenticated(fresh))
        #expect(try await store.load(session.id) == nil)
        #expect(spy.changes.last == .ended(.tokenReused))
        #expect(fixture.sessions.statistics.live == 0)
    }
}
