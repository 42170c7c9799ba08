import Sessions
import Synchronization
import Testing

@testable import RedisStorage

/// Two stores whose writers change the same sessions, and what was acknowledged.
final class RedisLoad: Sendable {
    struct Progress: Sendable {
        /// Acknowledged commits.
        var count = 0
        var failures: [String] = []
    }

    private struct State {
        var progress = Progress()
        var acknowledged: [SessionID: [(revision: UInt64, name: String)]] = [:]
        var names = 0
    }

    let fixture: RedisFixture
    let ids: [SessionID]
    let stores: [RedisStore]
    private let commits: Int
    private let state = Mutex(State())

    /// - Parameter commits: how many are acknowledged in the end.
    init(_ fixture: RedisFixture, sessions: Int, commits: Int) async throws {
        self.fixture = fixture
        self.commits = commits
        ids = (0..<sessions).map { _ in SessionID(random: SystemRandom()) }
        stores = try (0..<2).map { _ in try fixture.store() }
        for id in ids { try await stores[0].create(Samples.session(id)) }
    }

    var failures: [String] { state.withLock(\.progress.failures) }

    /// - Parameter look: is called with each progress, and may break something.
    func run(_ look: (Progress) async throws -> Void) async throws {
        let (stream, continuation) = AsyncStream.makeStream(of: Progress.self)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for id in ids {
                for store in stores { group.addTask { try await self.work(store, id, continuation) } }
            }
            for await progress in stream {
                try await look(progress)
                if progress.count >= commits { break }
            }
            try await group.waitForAll()
        }
    }

    private func work(
        _ store: RedisStore, _ id: SessionID, _ continuation: AsyncStream<Progress>.Continuation
    ) async throws {
        while state.withLock({ $0.progress.count < commits }) {
            do throws(StoreError) {
                guard let record = try await store.load(id)?.record else { throw .gone }
                // The document grows by one name with each commit.
                let name = state.withLock { state in
                    state.names += 1
                    return "\(state.names)"
                }
                let revision = record.revision + 1
                let document = ServiceDocument(
                    service: 0, birth: 0, revision: revision, createdAt: 1, updatedAt: 1,
                    bytes: (record.document(of: 0)?.bytes ?? []) + "\(name) ".utf8)
                let next = Samples.record(id, revision: revision, [document])
                try await store.commit(Samples.commit(next, over: record.revision))
                state.withLock { state in
                    state.acknowledged[id, default: []].append((revision, name))
                    state.progress.count += 1
                }
            } catch {
                // Another writer was faster.
                if case .overtaken = error { continue }
                state.withLock { $0.progress.failures.append("\(error)") }
                try await Task.sleep(for: .milliseconds(5))
            }
            continuation.yield(state.withLock(\.progress))
        }
    }

    /// Each commit made one revision, and no revision that was acknowledged is lost or another.
    func check(sourceLocation: SourceLocation = #_sourceLocation) async throws {
        _ = try await fixture.recovery(of: stores[1])
        var count = 0
        for id in ids {
            let record = try #require(try await stores[1].load(id), sourceLocation: sourceLocation).record
            let names = String(decoding: record.document(of: 0)?.bytes ?? [], as: UTF8.self).split(separator: " ")
            #expect(
                UInt64(names.count) == record.revision - 1 && Set(names).count == names.count,
                sourceLocation: sourceLocation)
            let acknowledged = state.withLock { $0.acknowledged[id] ?? [] }
            count += acknowledged.count
            let lost = acknowledged.filter { commit in
                Int(commit.revision) - 2 >= names.count || names[Int(commit.revision) - 2] != commit.name
            }
            #expect(lost.isEmpty, "\(lost.count) of \(acknowledged.count) of \(id)", sourceLocation: sourceLocation)
        }
        #expect(count >= commits, sourceLocation: sourceLocation)
    }
}
