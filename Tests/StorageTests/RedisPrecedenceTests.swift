import JSONDocument
import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import RedisStorage

/// Ends and sign-outs while servers keep writing.
@Suite("Precedence in Redis", .timeLimit(.minutes(2))) struct RedisPrecedenceTests {
    private let fixture: RedisFixture

    init() throws { fixture = try RedisFixture() }

    private final class Count: Sendable {
        private let count = Atomic<Int>(0)
        var value: Int { count.load(ordering: .relaxed) }
        func add() { count.add(1, ordering: .relaxed) }
    }

    @Test("sign-outs and ends of a back end win beside writers at three servers")
    func signOuts() async throws {
        let catalog = try ServiceCatalog()
        let proxy = try FaultProxy(to: fixture.server.port)
        let stores = try (0..<3).map { place in
            try fixture.store(services: catalog.services.map(\.name), port: place == 2 ? proxy.port : nil)
        }
        let servers = stores.map { Sessions(catalog: catalog, store: $0) }
        // It is farther from Redis than those that write, so in an open race it loses each time.
        let far = servers[2]
        _ = try await far.session(SessionID(high: 1, low: 1))
        for direction in FaultProxy.Direction.allCases { await proxy.cause(.delay(5, direction)) }
        for round in 0..<15 {
            let user = "ada\(round)"
            let id = try await servers[0].create().0.id
            let session = try #require(try await servers[1].session(id))
            _ = try await servers[1].attachUser(user, to: session)
            let writes = Count()
            let profile = try servers[0].catalog.service(named: "profile")
            let writing = Task {
                await withTaskGroup(of: Void.self) { group in
                    for number in 0..<6 {
                        group.addTask {
                            guard let session = try? await servers[number % 2].session(id) else { return }
                            // Without a look in between, so that it is fast.
                            while !Task.isCancelled {
                                do {
                                    let name = JSONDocument("\(number) \(writes.value)")
                                    _ = try await session.perform([.init(.mergePatch(["name": name]), on: profile)])
                                    writes.add()
                                } catch SessionError.ended {
                                    return
                                } catch {}
                            }
                        }
                    }
                }
            }
            while writes.value < 10 { await Task.yield() }
            if round % 2 == 0 {
                try await far.detachUser(from: try #require(try await far.session(id)))
                let seen = try #require(try await servers[0].session(id))
                #expect(seen.identity.userID == nil)
                // Others write again.
                let count = writes.value
                while writes.value < count + 10 { await Task.yield() }
            } else {
                #expect(try await far.endSessions(ofUser: user) == 1)
                #expect(try await servers[1].session(id) == nil)
            }
            writing.cancel()
            await writing.value
        }
        for store in stores { await store.close() }
        proxy.close()
    }

    @Test("a reserved session is for one server alone, until that has committed or its time is over")
    func reservation() async throws {
        let (one, two) = (try fixture.store(), try fixture.store())
        let id = SessionID(random: SystemRandom())
        func commit(_ revision: UInt64) -> SessionCommit {
            Samples.commit(
                Samples.record(id, revision: revision, [Samples.document(revision: revision)]), over: revision - 1)
        }
        try await one.create(Samples.session(id))
        _ = try await one.ask(one.reserving(id, for: 60_000))
        let refused = await #expect(throws: StoreError.self) { try await two.commit(commit(2)) }
        #expect(String(describing: refused).contains("conflict"))
        // Another one cannot take it.
        try await two.reserve(id)
        try await one.commit(commit(2))
        // As a process does that has lost.
        #expect(try await two.load(id)?.record.revision == 2)
        try await two.commit(commit(3))
        // Only the server that has reserved it gives it up.
        _ = try await two.ask(two.reserving(id, for: 60_000))
        one.release(id)
        let early = await #expect(throws: StoreError.self) { try await one.commit(commit(4)) }
        #expect(String(describing: early).contains("conflict"))
        two.release(id)
        _ = try await two.load(id)
        _ = try await one.load(id)
        try await one.commit(commit(4))
        _ = try await two.load(id)
        // One that ends without having committed keeps nobody out for long.
        try await two.reserve(id)
        let start = ContinuousClock.now
        while true {
            do throws(StoreError) {
                _ = try await one.load(id)
                try await one.commit(commit(5))
                break
            } catch {
                guard case .conflict = error, .now - start < .seconds(30) else { throw error }
            }
        }
        // An end is for everybody.
        try await two.reserve(id)
        #expect(try await one.end(id))
        try await two.reserve(id)
        #expect(try await two.load(id) == nil)
        await one.close()
        await two.close()
    }
}
