import Synchronization
import Testing

@testable import Sessions

@Suite("The history of a watched session")
struct WatchHistoryTests {
    @Test("is there for two minutes after the last watcher has left, also when nothing has looked at the time since")
    func retention() async throws {
        let fixture = try SessionsFixture(clock: ManualClock(isStill: true))
        let session = try await fixture.session()
        try session.watch(token: nil).leave()
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        fixture.clock.advance(SessionWatches.retention - 1)
        try session.watch(after: 1, token: nil).leave()
        fixture.clock.advance(SessionWatches.retention)
        #expect(throws: WatchError.resumePointGone) { try session.watch(after: 1, token: nil) }
        try session.watch(after: 2, token: nil).leave()
    }
}

@Suite("Too many watchers")
struct WatcherLimitTests {
    private func limited(_ change: (inout WatcherLimits) -> Void) throws -> SessionsFixture {
        var limits = WatcherLimits()
        change(&limits)
        return try SessionsFixture(clock: ManualClock(isStill: true)) { $0.watchers = limits }
    }

    /// What a watcher gets next, if it gets it at once.
    private func ends(_ watcher: SessionWatcher) -> Bool {
        let end = Mutex<WatchEnd?>(nil)
        watcher.next { if case .ended(let reason) = $0 { end.withLock { $0 = reason } } }
        return end.withLock { $0 == .displaced }
    }

    @Test("of a session: the oldest of the address that has most of them makes room")
    func ofSession() async throws {
        let session = try await limited({ $0.ofSession = 3 }).session()
        let (other, first, second) = (
            try session.watch(token: nil, from: 1), try session.watch(token: nil, from: 2),
            try session.watch(token: nil, from: 2)
        )
        let third = try session.watch(token: nil, from: 2)
        #expect(ends(first))
        #expect(!ends(other) && !ends(second) && !ends(third))
        let fourth = try session.watch(token: nil, from: 1)
        #expect(session.environment.watches.count == 3)
        for watcher in [other, first, second, third, fourth] { watcher.leave() }
        #expect(session.environment.watches.count == 0)
    }

    @Test("of an address: its own oldest makes room, in whichever session it is; other addresses keep theirs")
    func ofAddress() async throws {
        let fixture = try limited { $0.ofAddress = 2 }
        let sessions = [try await fixture.session(), try await fixture.session()]
        let other = try sessions[0].watch(token: nil, from: 1)
        let own = try (0..<3).map { try sessions[$0 % 2].watch(token: nil, from: 2) }
        #expect(ends(own[0]))
        #expect(!ends(other) && !ends(own[1]) && !ends(own[2]))
    }

    @Test("of all: an address that comes last gets its place from the one with most")
    func ofAll() async throws {
        let fixture = try limited { $0.all = 4 }
        let session = try await fixture.session()
        let greedy = try (0..<4).map { _ in try session.watch(token: nil, from: 1) }
        let late = try session.watch(token: nil, from: 2)
        #expect(ends(greedy[0]) && !ends(greedy[1]) && !ends(late))
        #expect(session.environment.watches.count == 4)
    }

    @Test("a displaced watcher is told of it when it next asks")
    func busy() async throws {
        let session = try await limited({ $0.ofSession = 1 }).session()
        let first = try session.watch(token: nil)
        _ = try session.watch(token: nil)
        #expect(ends(first))
    }
}
