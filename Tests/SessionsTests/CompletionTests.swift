import Glibc
import JSONDocument
import Synchronization
import Testing

@testable import Sessions

@Suite("Writing with a completion")
struct CompletionTests {
    private struct Mishap: Error {}

    @Test("nothing is shown before the store has called back")
    func waitingStore() async throws {
        let store = HeldStore()
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        #expect(try session.performAtOnce(.init(.put(["count": 1]), on: try fixture.service("counter"))) == nil)
        #expect(try session.summary().revision == 1)
        store.open()
        #expect(try session.summary().revision == 2)
    }

    @Test("both ways give the same outcomes, the same states and the same news")
    func sameEitherWay() async throws {
        let actions: [(ServiceOperation.Action, String, WriteCondition)] = [
            (.put(["count": 1]), "counter", .none), (.mergePatch(["name": "Ada"]), "profile", .none),
            (.jsonPatch([["op": "replace", "path": "/count", "value": 2]]), "counter", .ifMatch(.init(revision: 2))),
            (.clear, "profile", .none), (.clear, "mail", .none), (.remove, "counter", .none),
            (.put(["a": 1]), "notes", .init(ifNoneMatch: .any)),
        ]
        let (prompt, patient) = (try SessionsFixture(), try SessionsFixture())
        let (one, _) = try #require(
            try atOnce { prompt.sessions.create(labels: ["a": "b"], mode: .cookie, then: $0) })
        let (other, _) = try await patient.sessions.create(labels: ["a": "b"], mode: .cookie)
        let spies = (try ChangeSpy(one), try ChangeSpy(other))
        for (action, name, condition) in actions {
            let atOnce = try one.performAtOnce(.init(action, on: try prompt.service(name), condition: condition))
            let waited = try await patient.perform(action, on: name, other, if: condition)
            #expect(atOnce?.etag == waited.etag)
            #expect(atOnce?.bytes == waited.bytes)
        }
        #expect(try one.services() == other.services())
        #expect(spies.0.changes == spies.1.changes)
        let stored = try #require(try await prompt.store.load(one.id)?.record)
        let awaited = try #require(try await patient.store.load(other.id)?.record)
        #expect(stored.revision == awaited.revision && stored.services.map(\.bytes) == awaited.services.map(\.bytes))
        #expect(stored.details.labels == awaited.details.labels && stored.details.mode == .cookie)
        #expect(prompt.sessions.statistics == patient.sessions.statistics)
    }

    @Test("what cannot be done leaves nothing behind, and the next one gets its turn")
    func refusals() async throws {
        let fixture = try SessionsFixture { $0.maxDocumentSize = 64 }
        let session = try await fixture.session()
        let counter = try fixture.service("counter")
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        let refused: [(ServiceOperation, SessionError?)] = [
            (
                .init(.put(["count": 2]), on: counter, condition: .ifMatch(.init(revision: 9))),
                .preconditionFailed(service: "counter", current: .init(revision: 2))
            ),
            (.init(.put(.emptyObject), on: try fixture.service("notes")), .preconditionRequired(service: "notes")),
            (.init(.put(["count": "x"]), on: counter), nil),
            (.init(.clear, on: try fixture.service("user")), .readOnly(service: "user")),
            (
                .init(
                    .mergePatch(["name": .init(String(repeating: "x", count: 64))]), on: try fixture.service("profile")),
                .tooLarge(service: "profile", limit: 64)
            ),
        ]
        for (operation, expected) in refused {
            let error = #expect(throws: SessionError.self) { try session.performAtOnce(operation) }
            if let expected { #expect(error == expected) }
        }
        #expect(throws: Mishap.self) {
            try atOnce { done in
                session.transact(
                    { pending in
                        pending.write(counter, Array(#"{"count":3}"#.utf8))
                        throw Mishap()
                    }, then: done)
            }
        }
        #expect(try fixture.get("counter", session) == (["count": 1], ServiceETag(revision: 2)))
        #expect(try await fixture.store.load(session.id)?.record.revision == 2)
        #expect(try session.performAtOnce(.init(.put(["count": 4]), on: counter))?.etag.revision == 3)
    }

    @Test("while somebody else has the turn, and when another process was faster, it is done later")
    func later() async throws {
        let fixture = try SessionsFixture()
        let session = try await fixture.session()
        let outcomes = Outcomes<ServiceOperation.Outcome>()
        try await session.takeTurn()
        outcomes.begin(1, .put(["count": 1]), on: "counter", in: session)
        #expect(outcomes.numbers.isEmpty && session.waitingCount == 1)
        session.endTurn()
        #expect(outcomes.revisions == [2])

        let record = session.stored.record
        let faster = SessionRecord(
            id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt, revision: 3,
            services: [], details: record.details)
        try await fixture.store.commit(SessionCommit(record: faster, replacedRevision: 2, changedServices: []))
        let operation = ServiceOperation(.put(["count": 1]), on: try fixture.service("counter"))
        #expect(try await session.perform(operation).etag.revision == 4)
    }

    @Test("nothing is written to a session that ended, here or in the store")
    func ended() async throws {
        let fixture = try SessionsFixture()
        let operation = ServiceOperation(.put(["count": 1]), on: try fixture.service("counter"))
        let session = try await fixture.session()
        try await fixture.sessions.end(session)
        #expect(throws: SessionError.ended) { try session.performAtOnce(operation) }

        let other = try await fixture.session()
        _ = try await fixture.store.end(other.id)
        #expect(throws: SessionError.ended) { try other.performAtOnce(operation) }
        #expect(throws: SessionError.ended) { try other.summary() }
    }

    @Test("of a session with large documents runs on another thread than the caller's, one of a small session does not")
    func largeSessions() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        func runsHere() async throws -> Bool {
            try await withCheckedThrowingContinuation { waiting in
                let caller = pthread_self()
                // Later the same thread may run it as one of the pool.
                let isInside = Atomic(true)
                session.transact({ _ in
                    isInside.load(ordering: .relaxed) && pthread_equal(caller, pthread_self()) != 0
                }) { waiting.resume(with: $0) }
                isInside.store(false, ordering: .relaxed)
            }
        }
        #expect(try await runsHere())
        let large = JSONDocument(String(repeating: "x", count: 16_384))
        try await fixture.perform(.mergePatch(["attributes": ["a": large]]), on: "profile", session)
        #expect(try await !runsHere())
        // So does showing journeys; both are as complete as before.
        let journey = try await session.startJourney(flow: "wizard")
        #expect(try await session.journeys().map(\.bytes) == [journey.bytes])
        #expect(try await session.journey(journey.journey).bytes == journey.bytes)
        try await fixture.perform(.clear, on: "profile", session)
        // What comes while the one before still has its turn waits for that, and runs where it ran.
        var isHere = false
        for _ in 0..<1_000 where !isHere { isHere = try await runsHere() }
        #expect(isHere)
    }

    @Test(
        "of many writers at once, some waiting and some not, none loses a write",
        arguments: [MemoryStore(), StoreWrapper()] as [any SessionStore])
    func parallel(_ store: any SessionStore) async throws {
        let fixture = try SessionsFixture(store: store)
        let session = try await fixture.session()
        let counter = try fixture.service("counter")
        let increment: @Sendable (inout PendingState) throws -> UInt64 = { pending in
            let bytes = pending.document(of: counter)?.bytes ?? counter.defaultBytes
            let count = try JSONDocument(parsing: bytes)[member: "count"]?.int ?? 0
            pending.write(counter, JSONDocument(members: [("count", .init(count + 1))]).serialized())
            return pending.revision
        }
        let (writers, writes) = (8, 200)
        let later = Outcomes<UInt64>()
        let revisions = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for writer in 0..<writers {
                group.addTask {
                    var revisions: [UInt64] = []
                    for write in 0..<writes {
                        if (write + writer) % 3 > 0 {
                            later.begin(write, in: session, increment)
                        } else {
                            revisions.append(try await session.transact(increment))
                        }
                    }
                    return revisions
                }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
        // Behind all that wait.
        let last = try await session.transact(increment)
        let all = revisions + later.values + [last]
        let count = writers * writes + 1
        #expect(try fixture.get("counter", session).document == ["count": .init(count)])
        #expect(Set(all).count == count)
        #expect(try await fixture.store.load(session.id)?.record.revision == UInt64(count + 1))
    }
}
