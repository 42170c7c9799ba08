import RedisTestServer
import Sessions
import Synchronization
import Testing

@testable import Storage

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
        let stores = try (0..<3).map { _ in try fixture.store(services: catalog.services.map(\.name)) }
        let servers = stores.map { Sessions(catalog: catalog, store: $0) }
        for round in 0..<15 {
            let user = "ada\(round)"
            let id = try await servers[0].create().0.id
            let session = try #require(try await servers[1].session(id))
            _ = try await servers[1].attachUser(user, to: session)
            let writes = Count()
            let writing = Task {
                await withTaskGroup(of: Void.self) { group in
                    for server in servers {
                        group.addTask {
                            var number = 0
                            while !Task.isCancelled, let session = try? await server.session(id) {
                                number += 1
                                let name = "\(number)"
                                let write: Void? = try? await session.update {
                                    try $0.resolve(ProfileService.key).name = name
                                }
                                if write != nil { writes.add() }
                            }
                        }
                    }
                }
            }
            while writes.value < 10 { await Task.yield() }
            let server = servers[round % 3]
            if round % 2 == 0 {
                try await server.detachUser(from: try #require(try await server.session(id)))
                let seen = try #require(try await servers[(round + 1) % 3].session(id))
                #expect(seen.identity.userID == nil)
                // Others write again.
                let count = writes.value
                while writes.value < count + 10 { await Task.yield() }
            } else {
                #expect(try await server.endSessions(ofUser: user) == 1)
                #expect(try await servers[(round + 1) % 3].session(id) == nil)
            }
            writing.cancel()
            await writing.value
        }
        for store in stores { await store.close() }
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
        try await one.reserve(id)
        let refused = await #expect(throws: StoreError.self) { try await two.commit(commit(2)) }
        #expect(String(describing: refused).contains("conflict"))
        // Another one cannot take it.
        try await two.reserve(id)
        try await one.commit(commit(2))
        // As a process does that has lost.
        #expect(try await two.load(id)?.record.revision == 2)
        try await two.commit(commit(3))
        // One that ends without having committed keeps nobody out for long.
        try await two.reserve(id)
        let start = ContinuousClock.now
        while true {
            do throws(StoreError) {
                _ = try await one.load(id)
                try await one.commit(commit(4))
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
