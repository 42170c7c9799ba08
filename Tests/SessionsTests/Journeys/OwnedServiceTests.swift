import JSONDocument
import Navigation
import ServiceLocator
import Testing

@testable import Sessions

@Suite("What journeys own")
struct OwnedServiceTests {
    private static let form = """
        {"id": "form", "version": 1, "initial": "a", "owns": ["counter", "cart", "notes"], "states": {
           "a": {"data": ["counter", "cart"], "on": {
             "count": {"actions": [{"op": "replace", "path": "/counter/count", "value": 5}]},
             "fill": {"actions": [{"op": "add", "path": "/cart/items/-", "value": 1}]},
             "child": {"target": "child"}}},
           "child": {"type": "flow", "flow": "part", "on": {"done": {}}}}}
        """
    private static let part = """
        {"id": "part", "version": 1, "initial": "b", "owns": ["counter"], "states": {
           "b": {"data": ["counter"], "on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
        """
    private static let plain = """
        {"id": "plain", "version": 1, "initial": "a", "states": {"a": {"on": {"go": {"target": "a"}}}}}
        """

    private static func fixture(_ clock: ManualClock = ManualClock()) throws -> SessionsFixture {
        try SessionsFixture(clock: clock, flows: [form, part, plain])
    }

    private static let counter = DocumentService.key("counter")
    private static let cart = DocumentService.key("cart")

    @Test("a coordinator's locator has its parent coordinator's as its parent, and at last the session's")
    func locators() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "form").view.id
        try await session.send("count", toJourney: id)
        try await session.send("child", toJourney: id)
        try await session.update(inJourney: id) { locator in
            let own = try locator.resolve(Self.counter)
            #expect(own.document == ["count": 0])
            own.document = ["count": 7]
            let parent = try #require(locator.parent)
            #expect(try parent.resolve(Self.counter).document == ["count": 5])
            #expect(try locator.resolve(Self.cart) === parent.resolve(Self.cart))
            try parent.resolve(Self.cart).document = ["items": [1]]
            try locator.resolve(ProfileService.self).state.name = "Ada"
            let ofSession = try #require(parent.parent)
            #expect(try ofSession.resolve(Self.counter).document == ["count": 0])
        }
        #expect(try await session.journey(id).view.screen?["counter"] == ["count": 7])
        #expect(try fixture.get("profile", session).document[member: "name"] == "Ada")
        #expect(try fixture.get("cart", session).document == ["items": []])
        let shown = try await session.send("end", toJourney: id)
        #expect(shown.view.screen?["counter"] == ["count": 5])
        #expect(shown.view.screen?["cart"] == ["items": [1]])
        try await session.update(inJourney: id) { locator in
            #expect(locator.remove(Self.cart))
            try locator.clear(Self.counter)
        }
        #expect(try await session.journey(id).view.screen?["cart"] == ["items": []])
        #expect(try await session.journey(id).view.screen?["counter"] == ["count": 0])
        await #expect(throws: SessionError.self, "nothing is kept of what does not fit") {
            try await session.update(inJourney: id) { try $0.resolve(Self.counter).document = ["count": "x"] }
        }
        await #expect(throws: SessionError.noJourney("jrn_1")) {
            try await session.update(inJourney: "jrn_1") { _ in }
        }
    }

    @Test("what is owned is exported and imported with its journey, and its entity tag never comes back")
    func moved() async throws {
        let from = try Self.fixture()
        let session = try await from.session()
        let id = try await session.startJourney(flow: "form").view.id
        try await session.send("count", toJourney: id)
        let lines = try await exported(from.sessions)
        let to = try Self.fixture(from.clock)
        #expect(try await imported(lines, into: to.sessions).imported == 1)
        let here = try #require(try await to.sessions.session(session.id))
        #expect(try await here.journey(id).view.screen?["counter"] == ["count": 5])
        let counter = try from.service("counter")
        let before = try await session.document(of: counter, inJourney: id).etag
        #expect(try await imported(lines, into: from.sessions, .replace).replaced == 1)
        let after = try await session.document(of: counter, inJourney: id)
        #expect(after.etag.revision > before.revision)
        #expect(try JSONDocument(parsing: after.bytes) == ["count": 5])
    }

    @Test("a service with a lifetime ends in the journey, too, and what is shown knows when")
    func lifetime() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "form").view.id
        let filled = try await session.send("fill", toJourney: id)
        #expect(filled.view.screen?["cart"] == ["items": [1]])
        #expect(filled.dueAt == fixture.clock.now() + 60_000)
        fixture.clock.advance(60_000)
        #expect(try await session.journey(id).view.screen?["cart"] == ["items": []])
        let cart = try fixture.service("cart")
        #expect(try await session.document(of: cart, inJourney: id).etag == .unwritten)
        let again = try await session.send("fill", toJourney: id)
        #expect(again.view.screen?["cart"] == ["items": [1]])
    }

    @Test("a service that is first_write needs a condition in a journey, too")
    func firstWrite() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "form").view.id
        let notes = try fixture.service("notes")
        await #expect(throws: SessionError.preconditionRequired(service: "notes")) {
            try await session.perform(.init(.put(["a": 1]), on: notes, journey: id))
        }
        let written = try await session.perform(
            .init(.put(["a": 1]), on: notes, condition: .ifMatch(.unwritten), journey: id))
        #expect(written.etag.revision == session.revision)
    }

    @Test("a journey that owns one small service takes at most 400 bytes more")
    func size() async throws {
        let fixture = try Self.fixture()
        func bytes(_ flow: String, _ event: String) async throws -> Int {
            let session = try await fixture.session()
            let id = try await session.startJourney(flow: flow).view.id
            try await session.send(event, toJourney: id)
            let coordinator = try fixture.service("coordinator")
            return try session.pendingState().document(of: coordinator)?.bytes.capacity ?? 0
        }
        let (own, none) = (try await bytes("form", "count"), try await bytes("plain", "go"))
        #expect(own > none && own - none <= 400, "\(own) and \(none)")
    }
}
