import Testing
import Threads

@testable import Sessions

/// What a client can make long by asking for it.
@Suite("Finding a way in a flow")
struct LongWayTests {
    private static func row(of size: Int) -> String {
        let states = (0..<size).map { #""s\#($0)": {"on": {"next": {"target": "s\#(($0 + 1) % size)"}}}"# }
        return #"{"id": "row", "version": 1, "initial": "s0", "states": {\#(states.joined(separator: ","))}}"#
    }

    /// Runs each job of its tasks on a thread of that name, as a worker of the server does.
    private final class Worker: TaskExecutor {
        static let name = "test worker"

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            DetachedThread.run(Self.name) { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }
    }

    private static func onWorker(_ body: @Sendable () async throws -> Void) async throws {
        try await withTaskExecutorPreference(Worker(), operation: body)
    }

    @Test(
        "is done beside the threads that serve others, if there are many screens",
        arguments: [(101, true), (20, false)])
    func thread(size: Int, isLong: Bool) async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store, flows: [Self.row(of: size)], mainFlow: "row")
        let session = try await fixture.session()
        @Sendable func isBeside() -> Bool { store.committer.withLock(\.self) != Worker.name }
        try await Self.onWorker {
            _ = try await session.send("next", toJourney: "main")
            #expect(!isBeside())
            #expect(try await session.navigate(journey: "main", to: "s9").path.count == 8)
            #expect(isBeside() == isLong)
            _ = try await session.startJourney(flow: "row", at: "s9")
            #expect(isBeside() == isLong)
        }
    }

    @Test("is done beside them also when an answer that was changed leads to it")
    func resuming() async throws {
        let store = StoreWrapper()
        let states = (0..<101).map { place in
            let nav = place == 100 ? #", "nav": "resume""# : ""
            return #""s\#(place)": {"on": {"next": {"target": "s\#((place + 1) % 101)"\#(nav)}}}"#
        }
        let flow = #"{"id": "row", "version": 1, "initial": "s0", "states": {\#(states.joined(separator: ","))}}"#
        let fixture = try SessionsFixture(store: store, flows: [flow], mainFlow: "row")
        let session = try await fixture.session()
        try await Self.onWorker { _ = try await session.send("next", toJourney: "main") }
        #expect(store.committer.withLock(\.self) != Worker.name)
    }

    @Test("is done beside them also when it had to wait for its turn")
    func queued() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store, flows: [Self.row(of: 101)], mainFlow: "row")
        let session = try await fixture.session()
        try await Self.onWorker {
            try await session.takeTurn()
            async let ways = session.navigate(journey: "main", to: "s9").path
            while session.state.withLock({ $0.pipeline?.waiting.count ?? 0 }) == 0 { await Task.yield() }
            session.endTurn()
            #expect(try await ways.count == 9)
        }
        #expect(store.committer.withLock(\.self) != Worker.name)
    }
}
