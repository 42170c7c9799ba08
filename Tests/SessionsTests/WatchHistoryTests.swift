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
