import JSONDocument
import Testing

@testable import Sessions

/// Writes to a session that another process may have changed, which nobody has asked about first.
@Suite("Writes to a session as it is remembered") struct RememberedTests {
    private let hub = SharedStore()
    private let clock = ManualClock(isStill: true)
    private let one: SessionsFixture
    private let two: SessionsFixture
    private let session: Session
    private let token: SessionToken
    /// The same session at the second process.
    private let there: Session
    private let door: SharedStore.Door

    init() async throws {
        func process(_ hub: SharedStore, _ clock: ManualClock) throws -> SessionsFixture {
            try SessionsFixture(store: hub.door(), clock: clock) {
                $0.idleTimeout = 60_000
                $0.touchInterval = 3_000
            }
        }
        one = try process(hub, clock)
        two = try process(hub, clock)
        let made = try await one.sessions.create()
        session = made.0
        token = made.1
        there = try await two.sessions.authenticate(token.presented)
        door = try #require(two.store as? SharedStore.Door)
    }

    /// At the second process.
    private func write(
        _ count: JSONDocument, if condition: WriteCondition = .none
    ) async throws -> ServiceOperation.Outcome {
        let session = try #require(two.remembered(token.presented))
        let operation = ServiceOperation(
            .put(["count": count]), on: try two.service("counter"), condition: condition)
        return try await withCheckedThrowingContinuation { waiting in
            session.perform(operation, presenting: token.digest) { waiting.resume(with: $0) }
        }
    }

    /// How often the store was asked since where the session stands, for all of it, and for commits.
    private func calls(since before: [Int]) -> [Int] { zip(door.calls, before).map { $0 - $1 } }

    @Test("are a commit, which is a use")
    func alone() async throws {
        clock.advance(2_000)
        let before = door.calls
        #expect(try await write(1).etag == .init(revision: 2))
        #expect(calls(since: before) == [0, 0, 1])
        #expect(try await door.load(session.id)?.lastUsedAt == clock.now())
        #expect(there.stored.lastUsedAt == clock.now())
    }

    @Test("are done to what another process has made meanwhile, which comes with the refusal")
    func overtaken() async throws {
        let first = try await one.perform(.put(["items": [1]]), on: "cart", session)
        let before = door.calls
        #expect(try await write(2).etag == .init(revision: 3))
        #expect(calls(since: before) == [0, 0, 2])
        let here = try await one.sessions.authenticate(token.presented)
        #expect(try one.get("counter", here).document == ["count": 2])
        #expect(try two.get("cart", there).etag == first.etag)
    }

    @Test("fail when their condition is not met any more, with the other process's entity tag")
    func condition() async throws {
        let seen = try await write(1)
        let newer = try await one.perform(
            .put(["count": 2]), on: "counter", try await one.sessions.authenticate(token.presented))
        clock.advance(4_000)
        let error = SessionError.preconditionFailed(service: "counter", current: newer.etag)
        let before = door.calls
        await #expect(throws: error) { try await write(3, if: .ifMatch(seen.etag)) }
        #expect(calls(since: before) == [0, 0, 1])
        #expect(there.stored.lastUsedAt == clock.now())
    }

    @Test("show nothing of it without a commit")
    func unconfirmed() async throws {
        let newer = try await one.perform(.put(["count": 1]), on: "counter", session)
        clock.advance(2_000)
        let used = there.stored.lastUsedAt
        // Here the condition does not hold yet, and there it does.
        await #expect(throws: Unconfirmed.self) { try await write(2, if: .ifMatch(newer.etag)) }
        await #expect(throws: Unconfirmed.self) { try await write("none") }
        #expect(there.stored.lastUsedAt == used)
    }

    @Test("are not done when another process has replaced the token, or ended the session")
    func refused() async throws {
        _ = try await one.sessions.rotate(session)
        let used = there.stored.lastUsedAt
        clock.advance(2_000)
        await #expect(throws: Unconfirmed.self) { try await write(1) }
        #expect(there.stored.lastUsedAt == used)
        #expect(two.remembered(token.presented) == nil)
        #expect(try await door.load(session.id)?.record.services.isEmpty == true)
        let (other, token) = try await one.sessions.create()
        _ = try await two.sessions.authenticate(token.presented)
        try await one.sessions.end(other)
        let left = try #require(two.remembered(token.presented))
        let operation = ServiceOperation(.put(["count": 1]), on: try two.service("counter"))
        await #expect(throws: SessionError.ended) {
            try await withCheckedThrowingContinuation { waiting in
                left.perform(operation, presenting: token.digest) { waiting.resume(with: $0) }
            }
        }
        #expect(two.remembered(token.presented) == nil)
    }

    @Test("are only for a token and a time that are right here, of what the store cannot have lost")
    func remembered() async throws {
        #expect(two.remembered(SessionToken(for: session.id, random: SystemRandom()).presented) == nil)
        #expect(two.remembered(token.presented) === there)
        door.era.add(1, ordering: .relaxed)
        #expect(two.remembered(token.presented) == nil)
        _ = try await two.sessions.authenticate(token.presented)
        #expect(two.remembered(token.presented) === there)
        clock.advance(80_000)
        #expect(two.remembered(token.presented) == nil)
    }
}
