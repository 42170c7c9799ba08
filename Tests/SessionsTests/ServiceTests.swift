import JSONDocument
import ServiceLocator
import Sessions
import Testing

@Suite struct ServiceTests {
    private let fixture: SessionsFixture

    init() throws { fixture = try SessionsFixture() }

    @Test(
        "a service never written shows its default with the entity tag 0",
        arguments: [
            ("profile", ["name": "", "email": nil, "locale": nil, "attributes": .emptyObject]),
            ("temporary-profile", ["name": "", "email": nil, "locale": nil, "attributes": .emptyObject]),
            ("user", ["id": nil, "authenticated": false, "claims": .emptyObject]),
            ("counter", ["count": 0]),
        ] as [(String, JSONDocument)])
    func defaults(name: String, document: JSONDocument) async throws {
        let session = try await fixture.session()
        let (shown, etag) = try fixture.get(name, session)
        #expect(shown == document)
        #expect(etag == .unwritten)
        #expect(try session.summary().revision == 1)
    }

    @Test("the default quotation has a text and an author")
    func quote() async throws {
        let quote = try await fixture.session().state(of: QuoteService.self)
        #expect(!quote.text.isEmpty && !quote.author.isEmpty)
    }

    @Test("asking creates the instance and persists nothing")
    func asking() async throws {
        let session = try await fixture.session()
        #expect(try fixture.status("profile", session)?.isLive == false)
        _ = try fixture.get("profile", session)
        let status = try #require(try fixture.status("profile", session))
        #expect(status.isLive && status.createdAt != nil && status.updatedAt == nil && status.etag == .unwritten)
        #expect(try await fixture.store.load(session.id)?.record.services.isEmpty == true)
    }

    @Test("100 parallel first uses make one instance, made once")
    func parallelFirstUses() async throws {
        let session = try await fixture.session()
        let profile = try fixture.service("profile")
        let moments = try await withThrowingTaskGroup(of: Timestamp?.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    fixture.clock.advance(1)
                    _ = try session.document(of: profile)
                    return try session.services().first { $0.name == "profile" }?.createdAt
                }
            }
            return try await group.reduce(into: Set<Timestamp?>()) { $0.insert($1) }
        }
        #expect(moments.count == 1 && !moments.contains(nil))
        #expect(fixture.sessions.statistics.services.first { $0.name == "profile" }?.live == 1)
    }

    @Test("two registrations of one kind are two instances")
    func registrations() async throws {
        let session = try await fixture.session()
        try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        #expect(try fixture.get("temporary-profile", session).document[member: "name"] == "")
    }

    @Test("each write gives the revision as entity tag, also one that changes nothing")
    func tagsGrow() async throws {
        let session = try await fixture.session()
        let first = try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        let second = try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        let other = try await fixture.perform(.put(["count": 3]), on: "counter", session)
        #expect([first, second, other].map(\.etag.revision) == [2, 3, 4])
        #expect(first.bytes == second.bytes)
        #expect(try fixture.get("profile", session).etag == second.etag)
        #expect(try session.summary().revision == 4)
    }

    @Test("an entity tag never comes back, not after clear nor after remove")
    func tagsAreNotReused() async throws {
        let session = try await fixture.session()
        var seen: Set<ServiceETag> = []
        for round in 0..<3 {
            #expect(
                try fixture.get("counter", session).etag
                    == (round == 0 ? .unwritten : fixture.get("counter", session).etag)
            )
            #expect(seen.insert(try await fixture.perform(.put(["count": 1]), on: "counter", session).etag).inserted)
            #expect(seen.insert(try await fixture.perform(.clear, on: "counter", session).etag).inserted)
            #expect(try await fixture.perform(.remove, on: "counter", session).etag == .unwritten)
        }
        #expect(!seen.contains(.unwritten))
    }

    @Test("clear keeps the instance and is a write; remove makes room for a clean one")
    func clearAndRemove() async throws {
        let session = try await fixture.session()
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        let made = try fixture.status("counter", session)?.createdAt
        fixture.clock.advance(1_000)
        let cleared = try await fixture.perform(.clear, on: "counter", session)
        #expect(cleared.etag.revision == 3)
        #expect(try fixture.get("counter", session).document == ["count": 0])
        #expect(try fixture.status("counter", session)?.createdAt == made)
        try await fixture.perform(.remove, on: "counter", session)
        #expect(try fixture.status("counter", session)?.isLive == false)
        #expect(try fixture.get("counter", session).etag == .unwritten)
        #expect(try #require(try fixture.status("counter", session)?.createdAt) > #require(made))
    }

    @Test("clearing and removing what does not live does nothing")
    func clearNothing() async throws {
        let session = try await fixture.session()
        #expect(try await fixture.perform(.clear, on: "counter", session).etag == .unwritten)
        #expect(try await fixture.perform(.remove, on: "counter", session).etag == .unwritten)
        #expect(try session.summary().revision == 1)
        #expect(try fixture.status("counter", session)?.isLive == false)
    }

    @Test("all services leave newest first")
    func removeAll() async throws {
        let session = try await fixture.session()
        let spy = try ChangeSpy(session)
        for name in ["quote", "profile", "counter"] { _ = try fixture.get(name, session) }
        // Written in another order than made.
        try await fixture.perform(.put(["count": 1]), on: "counter", session)
        try await fixture.perform(.mergePatch(["author": "A"]), on: "quote", session)
        try await session.removeAllServices()
        let removed = spy.changes.filter {
            if case .serviceRemoved = $0 { true } else { false }
        }
        #expect(removed == ["counter", "profile", "quote"].map { .serviceRemoved(name: $0) })
        #expect(try session.services().allSatisfy { !$0.isLive })
        #expect(fixture.sessions.statistics.services.allSatisfy { $0.live == 0 })
    }

    @Test("what does not fit the schema is refused with every violation, and nothing changes")
    func violations() async throws {
        let session = try await fixture.session()
        let error = await #expect(throws: SessionError.self) {
            try await fixture.perform(.mergePatch(["name": 1, "email": 2, "surname": "L"]), on: "profile", session)
        }
        guard case .invalid(let errors) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(Set(errors.map(\.pointer)) == ["/name", "/email", "/surname"])
        #expect(try fixture.get("profile", session).etag == .unwritten)
        #expect(try session.summary().revision == 1)
    }

    @Test("a JSON Patch is done as a whole or not at all")
    func jsonPatch() async throws {
        let session = try await fixture.session()
        let good: JSONDocument = [["op": "replace", "path": "/name", "value": "Ada"]]
        #expect(try await fixture.perform(.jsonPatch(good), on: "profile", session).etag.revision == 2)
        let failing: JSONDocument = [
            ["op": "replace", "path": "/name", "value": "Bob"], ["op": "test", "path": "/name", "value": "Eve"],
        ]
        await #expect(throws: SessionError.self) {
            try await fixture.perform(.jsonPatch(failing), on: "profile", session)
        }
        #expect(try fixture.get("profile", session).document[member: "name"] == "Ada")
        let error = await #expect(throws: SessionError.self) {
            try await fixture.perform(.jsonPatch(["op": "add"]), on: "profile", session)
        }
        guard case .malformedPatch = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test("a document that is too large is refused")
    func tooLarge() async throws {
        let fixture = try SessionsFixture { $0.maxDocumentSize = 20 }
        let session = try await fixture.session()
        await #expect(throws: SessionError.tooLarge(service: "mail", limit: 20)) {
            try await fixture.perform(.put(["text": "more than twenty bytes"]), on: "mail", session)
        }
    }

    @Test("clients can read the user, admins can write it")
    func readOnly() async throws {
        let session = try await fixture.session()
        for action in [.put(.emptyObject), .mergePatch(.emptyObject), .clear, .remove] as [ServiceOperation.Action] {
            await #expect(throws: SessionError.readOnly(service: "user")) {
                try await fixture.perform(action, on: "user", session)
            }
        }
        let outcome = try await fixture.perform(.mergePatch(["id": "u1"]), on: "user", session, by: .admin)
        #expect(outcome.etag.revision == 2)
    }

    @Test("an instance whose lifetime is over counts as removed")
    func lifetime() async throws {
        let session = try await fixture.session()
        try await fixture.perform(.put(["items": [1]]), on: "cart", session)
        let status = try #require(try fixture.status("cart", session))
        let made = try #require(status.createdAt)
        let end = try #require(status.expiresAt)
        #expect(end.millisecondsSince1970 - made.millisecondsSince1970 == 60_000)
        fixture.clock.advance(59_999)
        #expect(try fixture.get("cart", session).etag.revision == 2)
        fixture.clock.advance(1)
        #expect(try fixture.status("cart", session)?.isLive == false)
        #expect(try fixture.get("cart", session).document == ["items": []])
        #expect(try fixture.get("cart", session).etag == .unwritten)
        #expect(fixture.sessions.statistics.services.first { $0.name == "cart" }?.live == 1)
        let written = try await fixture.perform(
            .put(["items": [2]]), on: "cart", session, if: .init(ifNoneMatch: .any))
        #expect(written.etag.revision == 3)
        #expect(fixture.sessions.statistics.services.first { $0.name == "cart" }?.live == 1)
    }

    @Test("an instance made after one whose lifetime is over is not taken for that one")
    func lifetimeAndLooking() async throws {
        let session = try await fixture.session()
        try await fixture.perform(.put(["items": [1]]), on: "cart", session)
        fixture.clock.advance(60_000)
        _ = try fixture.get("cart", session)
        let made = try #require(try fixture.status("cart", session)?.createdAt)
        fixture.clock.advance(1)
        #expect(try await session.update { try $0.resolve(DocumentService.key("cart")).document } == ["items": []])
        try await fixture.perform(.mergePatch(["name": "Ada"]), on: "profile", session)
        #expect(try fixture.status("cart", session)?.createdAt == made)
        #expect(try await fixture.store.load(session.id)?.record.services.count == 1)
        fixture.clock.advance(60_000)
        try await session.update { _ = try $0.resolve(DocumentService.key("cart")) }
        #expect(try #require(try fixture.status("cart", session)?.createdAt) > made)
        #expect(fixture.sessions.statistics.services.first { $0.name == "cart" }?.live == 1)
    }

    @Test("1,000 sessions with interleaved writes never see each other's data")
    func isolation() async throws {
        let all = try await withThrowingTaskGroup(of: (Int, Session).self) { group in
            for number in 0..<1_000 { group.addTask { (number, try await fixture.session()) } }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for round in 0..<5 {
                for (number, session) in all {
                    group.addTask {
                        try await session.update { locator in
                            let profile = try locator.resolve(ProfileService.self)
                            profile.state.name += "\(number),"
                            try locator.resolve(DocumentService.key("mail")).document = ["round": .init(round)]
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        for (number, session) in all {
            let name = try session.state(of: ProfileService.self).name
            #expect(name == String(repeating: "\(number),", count: 5))
        }
    }
}

@Suite struct CatalogTests {
    @Test("built-in and declared services have their places in order")
    func places() throws {
        let catalog = try ServiceCatalog(declarations: SessionsFixture.declarations)
        #expect(
            catalog.services.map(\.name) == [
                "profile", "temporary-profile", "quote", "user", "coordinator", "counter", "cart", "notes", "mail",
            ])
        #expect(catalog.services.map(\.index) == Array(0..<9))
        #expect(catalog["temporary-profile"]?.kind == "profile")
        #expect(catalog["nothing"] == nil)
        #expect(throws: SessionError.notRegistered(service: "nothing")) { try catalog.service(named: "nothing") }
    }

    @Test("all problems of a catalogue are told at once")
    func problems() throws {
        let declarations = [
            ServiceDefinition(declared: "profile"),
            ServiceDefinition(declared: "a", schema: ["type": "no-such-type"]),
            ServiceDefinition(declared: "b", schema: ["required": ["x"]], default: .emptyObject),
        ]
        let error = #expect(throws: ServiceCatalogError.self) { try ServiceCatalog(declarations: declarations) }
        #expect(error?.problems.count == 3)
        for name in ["'profile'", "'a'", "'b'"] { #expect(error?.description.contains(name) == true) }
    }
}
