import JSONDocument
import Testing

@testable import Sessions

@Suite("Writing without waiting")
struct PromptWritingTests {
    private struct Mishap: Error {}

    @Test("a store that has to be waited for is waited for: nothing is done at once")
    func waitingStore() async throws {
        let house = try House(store: StoreWrapper())
        #expect(try house.sessions.createAtOnce() == nil)
        #expect(house.sessions.statistics.live == 0)
        let session = try await house.session()
        #expect(try session.performAtOnce(.init(.put(["count": 1]), on: try house.service("counter"))) == nil)
        #expect(try session.view().summary.revision == 1)
        #expect(try await house.perform(.put(["count": 1]), on: "counter", session).etag.revision == 2)
    }

    @Test("both ways give the same outcomes, the same states and the same news")
    func sameEitherWay() async throws {
        let actions: [(ServiceOperation.Action, String, WriteCondition)] = [
            (.put(["count": 1]), "counter", .none), (.mergePatch(["name": "Ada"]), "profile", .none),
            (.jsonPatch([["op": "replace", "path": "/count", "value": 2]]), "counter", .ifMatch(.init(revision: 2))),
            (.clear, "profile", .none), (.clear, "mail", .none), (.remove, "counter", .none),
            (.put(["a": 1]), "notes", .init(onlyIfNew: true)),
        ]
        let (prompt, patient) = (try House(), try House())
        let (one, _) = try #require(try prompt.sessions.createAtOnce(labels: ["a": "b"], mode: .cookie))
        let (other, _) = try await patient.sessions.create(labels: ["a": "b"], mode: .cookie)
        for (action, name, condition) in actions {
            let atOnce = try one.performAtOnce(.init(action, on: try prompt.service(name), condition: condition))
            let waited = try await patient.perform(action, on: name, other, if: condition)
            #expect(atOnce?.etag == waited.etag)
            #expect(atOnce?.bytes == waited.bytes)
        }
        #expect(try one.view().services == other.view().services)
        #expect(prompt.ear.changes(of: one) == patient.ear.changes(of: other))
        let stored = try #require(try await prompt.store.load(one.id)?.record)
        let awaited = try #require(try await patient.store.load(other.id)?.record)
        #expect(stored.revision == awaited.revision && stored.services.map(\.bytes) == awaited.services.map(\.bytes))
        #expect(stored.details.labels == awaited.details.labels && stored.details.mode == .cookie)
        #expect(prompt.sessions.statistics == patient.sessions.statistics)
    }

    @Test("what cannot be done leaves nothing behind, and the next one gets its turn")
    func refusals() async throws {
        let house = try House { $0.maxDocumentSize = 64 }
        let session = try await house.session()
        let counter = try house.service("counter")
        try await house.perform(.put(["count": 1]), on: "counter", session)
        let refused: [(ServiceOperation, SessionError?)] = [
            (
                .init(.put(["count": 2]), on: counter, condition: .ifMatch(.init(revision: 9))),
                .preconditionFailed(service: "counter", current: .init(revision: 2))
            ),
            (.init(.put(.emptyObject), on: try house.service("notes")), .preconditionRequired(service: "notes")),
            (.init(.put(["count": "x"]), on: counter), nil),
            (.init(.clear, on: try house.service("user")), .readOnly(service: "user")),
            (
                .init(
                    .mergePatch(["name": .init(String(repeating: "x", count: 64))]), on: try house.service("profile")),
                .tooLarge(service: "profile", limit: 64)
            ),
        ]
        for (operation, expected) in refused {
            let error = #expect(throws: SessionError.self) { try session.performAtOnce(operation) }
            if let expected { #expect(error == expected) }
        }
        #expect(throws: Mishap.self) {
            try session.transactAtOnce { pending in
                pending.write(counter, Array(#"{"count":3}"#.utf8))
                throw Mishap()
            }
        }
        #expect(try house.get("counter", session) == (["count": 1], ServiceETag(revision: 2)))
        #expect(try await house.store.load(session.id)?.record.revision == 2)
        #expect(try session.performAtOnce(.init(.put(["count": 4]), on: counter))?.etag.revision == 3)
    }

    @Test("while somebody else has the turn, and after another process was faster, it is for the other way to wait")
    func giveUp() async throws {
        let house = try House()
        let session = try await house.session()
        let operation = ServiceOperation(.put(["count": 1]), on: try house.service("counter"))
        #expect(try session.takeTurnIfFree())
        #expect(try session.performAtOnce(operation) == nil)
        session.endTurn()

        let record = session.stored.record
        let faster = SessionRecord(
            id: record.id, token: record.token, createdAt: record.createdAt, expiresAt: record.expiresAt, revision: 2,
            services: [], details: record.details)
        try await house.store.commit(SessionCommit(record: faster, replacedRevision: 1, changedServices: []))
        #expect(try session.performAtOnce(operation) == nil)
        #expect(try session.view().summary.revision == 1)
        #expect(try house.status("counter", session)?.isLive == false)
        #expect(try await session.perform(operation).etag.revision == 3)
    }

    @Test("nothing is written to a session that ended, here or in the store")
    func ended() async throws {
        let house = try House()
        let operation = ServiceOperation(.put(["count": 1]), on: try house.service("counter"))
        let session = try await house.session()
        try await house.sessions.end(session)
        #expect(throws: SessionError.ended) { try session.performAtOnce(operation) }

        let other = try await house.session()
        _ = try await house.store.end(other.id)
        #expect(throws: SessionError.ended) { try other.performAtOnce(operation) }
        #expect(throws: SessionError.ended) { try other.view() }
    }

    @Test("of many writers at once, some waiting and some not, none loses a write")
    func parallel() async throws {
        let house = try House()
        let session = try await house.session()
        let counter = try house.service("counter")
        let increment: @Sendable (inout PendingState) throws -> UInt64 = { pending in
            let bytes = pending.document(of: counter)?.bytes ?? counter.defaultBytes
            let count = try JSONDocument(parsing: bytes)[member: "count"]?.int ?? 0
            pending.write(counter, JSONDocument(members: [("count", .init(count + 1))]).serialized())
            return pending.revision
        }
        let (writers, writes) = (8, 200)
        // Who comes when nobody writes; how many of the others find it so is for the scheduler to say.
        let first = try #require(try session.transactAtOnce(increment))
        let revisions = try await withThrowingTaskGroup(of: [UInt64].self) { group in
            for writer in 0..<writers {
                group.addTask {
                    var revisions: [UInt64] = []
                    for write in 0..<writes {
                        if (write + writer) % 3 > 0, let revision = try session.transactAtOnce(increment) {
                            revisions.append(revision)
                        } else {
                            revisions.append(try await session.transact(increment))
                        }
                    }
                    return revisions
                }
            }
            return try await group.reduce(into: [first]) { $0 += $1 }
        }
        let count = writers * writes + 1
        #expect(try house.get("counter", session).document == ["count": .init(count)])
        #expect(Set(revisions).count == count)
        #expect(try await house.store.load(session.id)?.record.revision == UInt64(count + 1))
    }

    @Test("a store that calls back has its session's turn kept until what it did is shown")
    func later() async throws {
        let store = CallingStore()
        let house = try House(store: store)
        let session = try await house.session()
        let operation = ServiceOperation(.put(["count": 1]), on: try house.service("counter"))
        let end = try await store.begin { tell in try session.performAtOnce(operation, orLater: { tell }) }
        #expect(try house.status("counter", session)?.isLive == false)
        #expect(try session.performAtOnce(operation, orLater: { { _ in } }) == nil)
        let other = Task { try await session.perform(operation).etag.revision }
        while session.state.withLock(\.waitingWriters.isEmpty) { await Task.yield() }
        #expect(try end()?.etag.revision == 2)
        #expect(try house.get("counter", session).document == ["count": 1])
        #expect(try await other.value == 3)
        #expect(house.ear.changes(of: session).count == 3)
    }

    @Test(
        "what such a store refuses has not happened, and the next one gets its turn",
        arguments: [.conflict, .gone, .unavailable("Mishap."), .full("Mishap.")] as [StoreError])
    func refusedLater(_ refusal: StoreError) async throws {
        let store = CallingStore()
        let house = try House(store: store)
        let session = try await house.session()
        let operation = ServiceOperation(.put(["count": 1]), on: try house.service("counter"))
        store.refusal.withLock { $0 = refusal }
        let end = try await store.begin { tell in try session.performAtOnce(operation, orLater: { tell }) }
        switch refusal {
        case .conflict: #expect(try end() == nil)
        case .gone: #expect(throws: SessionError.ended) { _ = try end() }
        default: #expect(throws: SessionError.self) { _ = try end() }
        }
        store.refusal.withLock { $0 = nil }
        if case .gone = refusal {
            #expect(throws: SessionError.ended) { try session.view() }
        } else {
            #expect(try house.status("counter", session)?.isLive == false)
            #expect(try await session.perform(operation).etag.revision == 2)
        }
    }

    @Test("who has nothing to be called with is told to wait, and nothing has happened; what needs no store does not")
    func nothingToCall() async throws {
        let house = try House(store: CallingStore())
        let session = try await house.session()
        let counter = try house.service("counter")
        #expect(try session.performAtOnce(.init(.put(["count": 1]), on: counter)) == nil)
        #expect(try session.performAtOnce(.init(.remove, on: counter), orLater: { nil })?.etag == .unwritten)
        #expect(try await session.perform(.init(.put(["count": 1]), on: counter)).etag.revision == 2)
    }
}
