import JSONDocument
import Navigation
import ServiceLocator
import Support
import Synchronization
import Testing

@testable import Sessions

@Suite("Commands of services in Swift", .timeLimit(.minutes(1)))
struct CommandTests {
    private let fixture: SessionsFixture
    private let session: Session

    init() async throws {
        fixture = try SessionsFixture(
            flows: [
                """
                {"id": "form", "version": 1, "initial": "a", "owns": ["cart"], "states": {
                   "a": {"data": ["cart"], "on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
                """,
                """
                {"id": "buy", "version": 1, "initial": "a", "owns": ["cart"], "states": {
                   "a": {"data": ["cart"], "accepts": {"add": {
                     "type": "object", "required": ["id", "count"],
                     "properties": {"id": {"type": "string"}, "count": {"type": "integer"}}}}, "on": {
                     "add": {"actions": [
                       {"call": "cart/add", "with": {"id": {"$from": "/event/id"}, "count": {"$from": "/event/count"}}},
                       {"op": "replace", "path": "/orders/turnover", "value": {"$from": "/result"}}]},
                     "order": {"actions": [{"call": "cart/order"}]},
                     "fail": {"actions": [{"call": "cart/fail"}]}}}}}
                """,
            ], adding: Shop.services)
        session = try await fixture.session()
    }

    @discardableResult
    private func call(
        _ command: String, _ input: JSONDocument? = nil, on name: String = "cart", if condition: WriteCondition = .none,
        inJourney journey: String? = nil
    ) async throws -> ServiceOperation.Outcome {
        try await session.call(try operation(command, input, on: name, if: condition, inJourney: journey))
    }

    private func operation(
        _ command: String, _ input: JSONDocument? = nil, on name: String = "cart", if condition: WriteCondition = .none,
        inJourney journey: String? = nil
    ) throws -> ServiceOperation {
        let service = try fixture.service(name)
        return ServiceOperation(
            .call(try service.command(named: command), input), on: service, condition: condition, journey: journey)
    }

    private static let tea: JSONDocument = ["id": "tea", "count": 2]
    private static let cup: JSONDocument = ["id": "cup", "count": 1]

    private var cart: JSONDocument { get throws { try fixture.get("cart", session).document } }

    @Test("a command changes the state, which the next one finds, and gives its output and the new tag")
    func change() async throws {
        let spy = try ChangeSpy(session)
        let first = try await call("add", Self.tea)
        #expect(first.output == 6 && first.etag.revision == 2)
        let second = try await call("add", Self.cup)
        #expect(second.output == 11 && second.etag.revision == 3)
        #expect(try fixture.get("cart", session) == (["items": ["tea": 2, "cup": 1], "total": 11], second.etag))
        #expect(try await call("empty").output == Optional.none)
        #expect(try cart == ["items": [:], "total": 0])
        #expect(spy.changes.count == 3)
    }

    @Test("a command that changes nothing stores nothing, however the document was written")
    func noChange() async throws {
        #expect(try await call("total").output == 0)
        #expect(try fixture.get("cart", session).etag == .unwritten)
        try await fixture.perform(.put(["items": [:], "total": 2.0, "note": "x"]), on: "cart", session, by: .admin)
        let revision = try session.summary().revision
        #expect(try await call("total").output == 2)
        #expect(try await call("note", "x").etag.revision == revision)
        #expect(try session.summary().revision == revision)
        #expect(try await call("note", "y").etag.revision > revision)
        #expect(try await call("empty", [:]).output == Optional.none)
        #expect(try cart == ["items": [:], "total": 0])
    }

    @Test("what a command has changed in another service is in the same commit, and a refusal undoes all of it")
    func twoServices() async throws {
        try await call("add", Self.tea)
        let revision = try session.summary().revision
        #expect(try await call("order").output == 1)
        #expect(try session.summary().revision == revision + 1)
        #expect(try fixture.get("orders", session).document == ["count": 1, "turnover": 6, "names": []])
        let before = try (fixture.get("orders", session).etag, fixture.get("cart", session).etag)
        await #expect(throws: SessionError.refused(Refusal("empty_cart", "There is nothing to order."))) {
            try await call("order")
        }
        await #expect(throws: SessionError.refused(Refusal("unknown_item", at: "/id", "There is no gold."))) {
            try await call("add", ["id": "gold", "count": 1])
        }
        #expect(try (fixture.get("orders", session).etag, fixture.get("cart", session).etag) == before)
    }

    @Test(
        "an input is checked against its schema, then against its type",
        arguments: [
            ("add", ["id": "tea", "count": 0], ["/count"]), ("add", ["id": 1, "more": 1], ["/count", "/id", "/more"]),
            ("add", nil, [""]), ("note", 7, [""]), ("empty", ["a": 1], [""]),
        ] as [(String, JSONDocument?, [String])])
    func wrongInput(command: String, input: JSONDocument?, places: [String]) async throws {
        let error = await #expect(throws: SessionError.self) { try await call(command, input) }
        guard case .inputInvalid(let found) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(found.map(\.pointer).sorted() == places)
        #expect(try session.summary().revision == 1)
    }

    @Test("a state that does not fit its schema is refused, and so is one that is too large")
    func wrongState() async throws {
        let error = await #expect(throws: SessionError.self) { try await call("add", ["id": "tea", "count": 1_000]) }
        guard case .invalid(let places) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(places.map(\.pointer) == ["/total"])
        let limit = fixture.sessions.settings.maxDocumentSize
        await #expect(throws: SessionError.tooLarge(service: "cart", limit: limit)) {
            try await call("note", JSONDocument(String(repeating: "x", count: limit)))
        }
        #expect(try cart == ["items": [:], "total": 0])
    }

    @Test("what code throws is a failure of the service")
    func failure() async throws {
        let error = await #expect(throws: SessionError.self) { try await call("fail") }
        guard case .serviceFailed("cart", _) = error else {
            Issue.record("\(error as Any)")
            return
        }
    }

    @Test("the condition is that of the service")
    func condition() async throws {
        var condition = WriteCondition.none
        condition.ifMatch = .oneOf([ServiceETag(revision: 7)])
        for command in ["empty", "pay"] {
            await #expect(throws: SessionError.preconditionFailed(service: "cart", current: .unwritten)) {
                try await call(command, if: condition)
            }
        }
        let etag = try await call("add", Self.tea).etag
        condition.ifMatch = .oneOf([etag])
        #expect(try await call("pay", if: condition).output == "paid 6")
    }

    @Test("in a transaction commands see what was written before, and what follows sees what they did")
    func transaction() async throws {
        func put(_ state: JSONDocument) throws -> ServiceOperation {
            ServiceOperation(.put(state), on: try fixture.service("cart"))
        }
        func perform(_ operations: [ServiceOperation]) async throws -> [ServiceOperation.Outcome] {
            try await session.perform(operations, by: .admin)
        }
        let done = try await perform([
            try put(["items": ["tea": 1], "total": 3]), try operation("add", Self.tea),
            ServiceOperation(.mergePatch(["note": "for Ada"]), on: try fixture.service("cart")),
            try operation("order"), try operation("add", Self.cup),
        ])
        #expect(done.map(\.output) == [nil, 9, nil, 1, 5])
        #expect(Set(done.map(\.etag.revision)) == [2])
        #expect(try cart == ["items": ["cup": 1], "total": 5])
        #expect(try fixture.get("orders", session).document[member: "turnover"] == 9)
        await #expect(
            throws: SessionError.inOperation(1, .refused(Refusal("empty_cart", "There is nothing to order.")))
        ) {
            try await perform([try operation("empty"), try operation("order")])
        }
        await #expect(throws: SessionError.self) {
            try await perform([try put(["items": 1, "total": 3]), try operation("total"), try put(["items": [:]])])
        }
        #expect(try cart == ["items": ["cup": 1], "total": 5])
    }

    @Test("in a journey a command works on what the journey's coordinators own, and on the session's other services")
    func journey() async throws {
        let id = try await session.startJourney(flow: "form").view.id
        let owned = try await call("add", Self.tea, inJourney: id)
        #expect(owned.output == 6)
        let shown = try await session.document(of: try fixture.service("cart"), inJourney: id)
        #expect(shown.etag == owned.etag && shown.etag != .unwritten)
        #expect(try fixture.get("cart", session).etag == .unwritten)
        var condition = WriteCondition.none
        condition.ifMatch = .oneOf([.unwritten])
        await #expect(throws: SessionError.preconditionFailed(service: "cart", current: owned.etag)) {
            try await call("empty", if: condition, inJourney: id)
        }
        #expect(try await call("pay", inJourney: id).output == "paid 6")
        #expect(try await call("order", inJourney: id).output == 1)
        #expect(try fixture.get("orders", session).document[member: "turnover"] == 6)
        await #expect(throws: SessionError.noJourney("jrn_1")) { try await call("empty", inJourney: "jrn_1") }
        try await session.send("end", toJourney: id)
        for command in ["empty", "pay"] {
            await #expect(throws: SessionError.self) { try await call(command, inJourney: id) }
        }
    }

    @Test("an action of a flow calls a command on what the journey sees; a refusal refuses the step")
    func action() async throws {
        let id = try await session.startJourney(flow: "buy").view.id
        func send(_ event: String, _ data: JSONDocument? = nil) async throws -> JourneyView {
            try await session.send(event, data: data, toJourney: id).view
        }
        #expect(try await send("add", Self.tea).screen?["cart"] == ["items": ["tea": 2], "total": 6])
        #expect(try cart == ["items": [:], "total": 0])
        #expect(try fixture.get("orders", session).document[member: "turnover"] == 6)
        let error = await #expect(throws: JourneyRefusal.self) { try await send("add", ["id": "gold", "count": 1]) }
        guard case .guardNotMet(let places) = error else {
            Issue.record("\(error as Any)")
            return
        }
        #expect(places == [JSONViolation(pointer: "/event/id", detail: "There is no gold.")])
        #expect(try await send("order").screen?["cart"] == ["items": [:], "total": 0])
        #expect(try fixture.get("orders", session).document == ["count": 1, "turnover": 12, "names": []])
        await #expect(throws: JourneyRefusal.self) { try await send("order") }
        await #expect(throws: SessionError.self) { try await send("fail") }
        #expect(try fixture.get("orders", session).document[member: "count"] == 1)
    }

    @Test("while a command waits others go on using the session")
    func waiting() async throws {
        try await call("add", Self.tea)
        let bank = try fixture.sessions.environment.process.resolve(Bank.key)
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let (departures, departure) = AsyncStream.makeStream(of: Void.self)
        bank.before {
            arrival.yield()
            for await _ in departures { return }
        }
        async let paid = call("pay")
        for await _ in arrivals { break }
        #expect(try await call("add", Self.cup).output == 11)
        #expect(try cart[member: "receipt"] == nil)
        departure.finish()
        let outcome = try await paid
        #expect(outcome.output == "paid 6")
        #expect(try cart == ["items": ["tea": 2, "cup": 1], "total": 11, "receipt": "paid 6"])
        #expect(try fixture.get("cart", session).etag == outcome.etag)
    }

    @Test("what a command that waited brings is not the next user's")
    func waitingForAnother() async throws {
        _ = try await fixture.sessions.attachUser("ada", to: session)
        try await call("add", Self.tea)
        let bank = try fixture.sessions.environment.process.resolve(Bank.key)
        let (sessions, session) = (fixture.sessions, session)
        bank.before { _ = try? await sessions.attachUser("eve", to: session) }
        await #expect(throws: SessionError.unauthenticated) { try await call("pay") }
        #expect(session.identity.userID == "eve")
        #expect(try cart[member: "receipt"] == nil)
        // Who signs in meanwhile takes along what is the session's.
        try await sessions.detachUser(from: session)
        #expect(try await call("pay").output == "paid 6")
    }

    @Test("a command that waits is refused before it begins when its input or its condition is wrong")
    func waitingInput() async throws {
        await #expect(throws: SessionError.refused(Refusal("empty_cart", "There is nothing to pay."))) {
            try await call("pay")
        }
        await #expect(throws: SessionError.self) { try await call("wait", 7) }
        #expect(try await call("wait", "now").etag == .unwritten)
    }

    @Test("a command that needs a tenth of a second is noted by its name")
    func slow() async throws {
        try await call("empty")
        try await call("think")
        #expect(fixture.notes.slow == ["cart/think"])
    }

    @Test("there are several services of a type, each with its own instance")
    func twoInstances() async throws {
        try await call("add", Self.tea, on: "gift-cart")
        #expect(try cart[member: "total"] == 0)
        #expect(try fixture.get("gift-cart", session).document[member: "total"] == 6)
        #expect(try fixture.service("gift-cart").kind == "cart")
        let totals = try await session.update { locator in
            [try locator.resolve(Cart.self), try locator.resolve(Cart.self, named: "gift-cart")].map(\.state.total)
        }
        #expect(totals == [0, 6])
    }

    @Test("a locator clears and removes the object like any other service")
    func lifeCycle() async throws {
        try await call("add", Self.tea)
        let key = ServiceInstance<Cart>.key(nil)
        try await session.update { locator in
            let cart = try locator.resolve(Cart.self)
            try locator.clear(key)
            #expect(cart.state.total == 0)
            #expect(try locator.resolve(Cart.self) === cart)
        }
        #expect(try fixture.get("cart", session).etag.revision == 3)
        try await session.update { locator in
            try locator.clear(key)
            try locator.resolve(Cart.self).state.note = "after"
        }
        #expect(try cart == ["items": [:], "total": 0, "note": "after"])
        try await session.update { locator in
            let old = try locator.resolve(Cart.self)
            locator.remove(key)
            old.state.note = "gone"
            #expect(try locator.resolve(Cart.self).state.note == nil)
        }
        #expect(try fixture.status("cart", session)?.etag == .unwritten)
        try await call("add", Self.tea)
        try await session.update { $0.removeAll() }
        #expect(try fixture.status("cart", session)?.isLive == false)
    }

    @Test("clients write what decodes, and what they leave out gets the default")
    func writes() async throws {
        let orders = { try fixture.get("orders", session).document }
        try await fixture.perform(.put(["count": 2]), on: "orders", session)
        #expect(try orders() == ["count": 2, "turnover": 0, "names": []])
        try await fixture.perform(.mergePatch(["names": ["Ada"], "count": nil]), on: "orders", session)
        #expect(try orders() == ["count": 0, "turnover": 0, "names": ["Ada"]])
        let wrong: [(JSONDocument, String)] = [
            (["names": [1]], "/names/0"), (["count": "2"], "/count"), (["names": nil, "turnover": [:]], "/turnover"),
        ]
        for (patch, place) in wrong {
            let error = await #expect(throws: SessionError.self) {
                try await fixture.perform(.mergePatch(patch), on: "orders", session)
            }
            guard case .invalid(let places) = error else {
                Issue.record("\(error as Any)")
                continue
            }
            #expect(places.map(\.pointer) == [place])
        }
        await #expect(throws: SessionError.readOnly(service: "cart")) {
            try await fixture.perform(.mergePatch(["total": 0]), on: "cart", session)
        }
    }

    @Test("an older program's document gets the members that it lacks; one that cannot be read stops no other service")
    func olderDocuments() async throws {
        let service = try fixture.service("orders")
        func write(_ text: String) async throws {
            try await session.transact { $0.write(service, Array(text.utf8)) }
        }
        try await write(#"{"count":4}"#)
        #expect(try await session.update { try $0.resolve(Orders.self).state.count } == 4)
        #expect(try fixture.get("orders", session).document == ["count": 4])
        try await write(#"{"count":"four"}"#)
        await #expect(
            throws: SessionError.invalid([.init(pointer: "/count", detail: "must be a value of the type Int")])
        ) {
            try await call("order")
        }
        try await session.update { try $0.resolve(ProfileService.self).state.name = "Ada" }
        for _ in 0..<2 {
            await #expect(throws: ServiceLocatorError.self) {
                try await session.update {
                    _ = try? $0.resolve(Orders.self)
                    _ = try $0.resolve(Orders.self)
                }
            }
        }
    }

    @Test("a member that code has set to nil does not come back as the default")
    func setToNil() async throws {
        final class Voucher: SessionService {
            struct State: Codable, Sendable { var code: String? = "none" }
            static let name = "voucher"
            static let initial = State()
            static let schema: JSONDocument? = ["type": "object", "required": ["code"]]
            static let commands: [Command<Voucher>] = [Command("drop") { $0.state.code = nil }]
            var state: State
            init(state: State, services: borrowing ServiceResolver) { self.state = state }
        }
        var services = SwiftServices()
        services.add(Voucher.self)
        let fixture = try SessionsFixture(adding: services)
        let voucher = try fixture.service("voucher")
        let drop = ServiceOperation(.call(try voucher.command(named: "drop"), nil), on: voucher)
        let session = try await fixture.session()
        await #expect(throws: SessionError.invalid([.init(pointer: "/code", detail: "is required")])) {
            try await session.call(drop)
        }
        try await fixture.perform(.put([:]), on: "voucher", session)
        #expect(try fixture.get("voucher", session).document == ["code": "none"])
    }

    @Test("all that is wrong with services and their commands is told when the catalogue is frozen")
    func problems() throws {
        final class Wrong: SessionService {
            struct State: Codable, Sendable { var ratio = Double.nan }
            static let name = "Wrong"
            static let initial = State()
            static let commands: [Command<Wrong>] = [
                Command("same") { _ in }, Command("same") { _ in }, Command("a b") { _ in },
                Command("schema", input: Int.self, schema: ["type": "no-such-type"]) { _, _ in },
            ]
            var state: State
            init(state: State, services: borrowing ServiceResolver) { self.state = state }
        }
        var services = SwiftServices()
        services.add(Wrong.self)
        let error = #expect(throws: ServiceCatalogError.self) { try ServiceCatalog(adding: services) }
        #expect(error?.problems.count == 5)
        for part in ["'same' of service 'Wrong' is defined twice", "'a b'", "'schema'", "initial state", "lower-case"] {
            #expect(error?.description.contains(part) == true, "\(part)")
        }
        let unknown = #expect(throws: SessionError.self) { try fixture.service("cart").command(named: "ad") }
        #expect(unknown == .noCommand(service: "cart", command: "ad", nearest: "add"))
    }
}
