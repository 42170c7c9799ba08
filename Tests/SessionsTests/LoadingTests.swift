import Testing

@testable import Sessions

@Suite("Loading sessions", .timeLimit(.minutes(1)))
struct LoadingTests {
    private static func stored(in store: StoreWrapper, _ count: Int = 1) async throws -> [SessionToken] {
        let fixture = try SessionsFixture(store: store)
        var tokens: [SessionToken] = []
        for _ in 0..<count { tokens.append(try await fixture.sessions.create().1) }
        return tokens
    }

    /// Returns when so many wait for somebody else's load.
    private static func waitForWaiting(_ count: Int, for id: SessionID, _ fixture: SessionsFixture) async {
        let registry = fixture.sessions.registry
        while !Task.isCancelled,
            registry.shards.withLock(registry.place(of: id), { $0.loads[id]?.waiting.count }) != count
        {
            await Task.yield()
        }
    }

    @Test("a hundred who ask for one at once load it once, and get the same")
    func once() async throws {
        let store = StoreWrapper()
        let token = try await Self.stored(in: store)[0]
        let fixture = try SessionsFixture(store: store)
        defer { store.letGo() }
        store.beforeLoad.withLock { $0 = { id in await Self.waitForWaiting(99, for: id, fixture) } }
        let found = try await withThrowingTaskGroup(of: Session.self) { group in
            for _ in 0..<100 { group.addTask { try await fixture.sessions.authenticate(token.presented) } }
            return try await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert(ObjectIdentifier($1)) }
        }
        #expect(found.count == 1)
        #expect(store.loadCount.load(ordering: .relaxed) == 1)
        #expect(fixture.sessions.statistics.live == 1)
    }

    @Test("others do not wait for it")
    func parallel() async throws {
        let store = StoreWrapper()
        let tokens = try await Self.stored(in: store, 2)
        let fixture = try SessionsFixture(store: store)
        let slow = tokens[0].presented.sessionID
        let (loaded, finish) = AsyncStream.makeStream(of: Void.self)
        store.beforeLoad.withLock {
            $0 = { id in
                guard id == slow else { return }
                for await _ in loaded { break }
            }
        }
        async let first = fixture.isAuthenticated(tokens[0])
        #expect(try await fixture.isAuthenticated(tokens[1]))
        finish.yield()
        #expect(try await first)
    }

    @Test("when the store does not answer, all who wait hear of it, and the next one asks again")
    func failure() async throws {
        let store = StoreWrapper()
        let token = try await Self.stored(in: store)[0]
        let fixture = try SessionsFixture(store: store)
        store.beforeLoad.withLock {
            $0 = { id throws(StoreError) in
                await Self.waitForWaiting(9, for: id, fixture)
                throw .unavailable("gone fishing")
            }
        }
        let failures = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<10 {
                group.addTask {
                    do throws(SessionError) {
                        _ = try await fixture.sessions.authenticate(token.presented)
                        return false
                    } catch {
                        return error == .storeUnavailable(reason: "gone fishing")
                    }
                }
            }
            return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(failures == 10)
        store.beforeLoad.withLock { $0 = nil }
        #expect(try await fixture.isAuthenticated(token))
        #expect(store.loadCount.load(ordering: .relaxed) == 2)
    }

    @Test("one that ends while it is loaded is given to nobody who waits")
    func cancelled() async throws {
        let store = StoreWrapper()
        let token = try await Self.stored(in: store)[0]
        let fixture = try SessionsFixture(store: store)
        let id = token.presented.sessionID
        defer { store.letGo() }
        store.afterLoad.withLock {
            $0 = {
                await Self.waitForWaiting(4, for: id, fixture)
                _ = try? await store.end(id)
                fixture.sessions.registry.remove(id)
            }
        }
        let found = try await withThrowingTaskGroup(of: Bool.self) { group in
            for _ in 0..<5 { group.addTask { try await fixture.sessions.session(id) != nil } }
            return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
        }
        #expect(found == 0)
        #expect(fixture.sessions.statistics.live == 0)
    }
}
