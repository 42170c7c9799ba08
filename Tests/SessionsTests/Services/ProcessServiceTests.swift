import FlowTools
import JSONDocument
import Navigation
import ServiceLocator
import Support
import Testing

@testable import Sessions

/// A guest who orders what the menu has.
private final class Guest: SessionService {
    struct State: Codable, Sendable { var plate = "" }
    static let name = "guest"
    static let initial = State()
    static let commands: [Command<Guest>] = [
        Command("order") { guest in
            guest.state.plate = guest.menu.document[member: "soup"]?.string ?? ""
            return guest.state.plate
        },
        Command("cook") { guest in
            guest.state.plate = "stew"
            guest.menu.document = ["soup": "stew"]
        },
        Command(
            "spill",
            waiting: { context in
                try await context.update { _, locator in
                    locator.remove(DocumentService.key("menu"))
                }
            }),
    ]
    var state: State
    private let menu: DocumentService

    init(state: State, services: borrowing ServiceResolver) throws {
        self.state = state
        menu = try services.resolve(DocumentService.key("menu"))
    }
}

@Suite("Documents of the process, in the sessions of one server")
struct ProcessServiceTests {
    private let store = MemoryStore()

    private func sessions(
        menu scope: ServiceScope = .process, _ store: any SessionStore, clock: ManualClock = ManualClock()
    ) throws -> Sessions {
        var services = SwiftServices()
        services.add(Guest.self)
        let menu = ServiceDefinition(
            declared: "menu", schema: ["type": "object", "properties": ["soup": ["type": "string"]]],
            default: ["soup": "leek"], scope: scope)
        let catalog = try ServiceCatalog(declarations: [menu], adding: services)
        let flow = """
            {"id": "lunch", "version": 1, "initial": "a", "states": {"a": {"on": {
               "order": {"actions": [{"call": "guest/order"}]}, "cook": {"actions": [{"call": "guest/cook"}]}}}}}
            """
        let (flows, problems) = FlowLoader(services: catalog.directory)
            .load([FlowFile(name: "lunch.json", bytes: Array(flow.utf8))])
        return Sessions(
            catalog: catalog, store: store, clock: clock,
            journeys: JourneySettings(engine: FlowEngine(catalog: try #require(flows, "\(problems)"))))
    }

    private func call(_ command: String, in session: Session, of sessions: Sessions) async throws -> JSONDocument? {
        let guest = try sessions.catalog.service(named: "guest")
        return try await session.call(.init(.call(try guest.command(named: command), nil), on: guest)).output
    }

    private func serve(_ soup: String, in sessions: Sessions) async throws -> ServiceETag {
        let menu = try sessions.catalog.service(named: "menu")
        let operation = ServiceOperation(.put(["soup": JSONDocument(soup)]), on: menu)
        return try await sessions.processDocuments().perform([operation], by: .process)[0].etag
    }

    private func soup(_ session: Session, _ sessions: Sessions) throws -> String? {
        let shown = try session.document(of: try sessions.catalog.service(named: "menu"))
        return try JSONDocument(parsing: shown.bytes)[member: "soup"]?.string
    }

    @Test("a service in Swift reads one by the locator, in a command and in a flow, and cannot write it")
    func swift() async throws {
        let sessions = try sessions(store)
        let session = try await sessions.create().0
        #expect(try await call("order", in: session, of: sessions) == "leek")
        _ = try await serve("onion", in: sessions)
        #expect(try await call("order", in: session, of: sessions) == "onion")
        let journey = try await session.startJourney(flow: "lunch").journey
        _ = try await serve("pea", in: sessions)
        try await session.send("order", toJourney: journey)
        let guest = try sessions.catalog.service(named: "guest")
        #expect(try session.document(of: guest).bytes == Array(#"{"plate":"pea"}"#.utf8))

        for command in ["cook", "spill"] {
            await #expect(throws: SessionError.readOnly(service: "menu")) {
                try await call(command, in: session, of: sessions)
            }
        }
        await #expect(throws: SessionError.readOnly(service: "menu")) {
            try await session.send("cook", toJourney: journey)
        }
        #expect(try soup(session, sessions) == "pea")
        #expect(try session.document(of: guest).bytes == Array(#"{"plate":"pea"}"#.utf8), "nothing else was changed")
        #expect(try session.summary().revision == session.stored.record.revision)
        #expect(session.stored.record.services.allSatisfy { sessions.catalog.services[Int($0.service)].name != "menu" })
    }

    @Test("a document from before its service was the process's, or the session's, is not seen and leaves with a write")
    func changedScope() async throws {
        let before = try sessions(menu: .session, store)
        let (session, token) = try await before.create()
        let menu = try before.catalog.service(named: "menu")
        _ = try await session.perform([.init(.put(["soup": "mine"]), on: menu)])
        let after = try sessions(store)
        let same = try await after.authenticate(PresentedToken(token.text))
        #expect(try soup(same, after) == "leek")
        #expect(try same.services().first { $0.name == "menu" }?.etag == .unwritten)
        _ = try await serve("onion", in: after)
        #expect(try soup(same, after) == "onion")
        #expect(try await call("order", in: same, of: after) == "onion")
        #expect(same.stored.record.document(of: menu.index) == nil)
        // And back.
        let again = try sessions(menu: .session, store)
        let third = try await again.authenticate(PresentedToken(token.text))
        #expect(try soup(third, again) == "leek")
    }

    @Test("they are no session: not to be found by their id, not in a page, not counted")
    func hidden() async throws {
        let sessions = try sessions(store)
        try await sessions.openProcessDocuments()
        _ = try await serve("onion", in: sessions)
        let id = SessionID.process
        #expect(try await sessions.session(id) == nil)
        #expect(try await sessions.page(limit: 10).sessions.isEmpty)
        #expect(sessions.statistics.stored == 0 && sessions.statistics.live == 0)
        #expect(try await sessions.endAllSessions() == 0)
        // A token that names it is none.
        let token = SessionToken(for: id, random: SystemRandom())
        await #expect(throws: SessionError.unauthenticated) {
            _ = try await sessions.authenticate(PresentedToken(token.text))
        }
        // Much later it is still there.
        let session = try await sessions.create().0
        await sessions.sweep()
        await sessions.sweepStore()
        #expect(try soup(session, sessions) == "onion")
        _ = try await sessions.end(session)
        #expect(sessions.statistics.stored == 0)
    }

    @Test("documents that the store cannot read are an error for those who ask for them, and for nobody else")
    func damaged() async throws {
        let store = StoreWrapper()
        store.beforeLoad.withLock {
            $0 = { id throws(StoreError) in
                if id == SessionID.process { throw .damaged("torn") }
            }
        }
        let sessions = try sessions(store)
        await #expect(throws: SessionError.self) { try await sessions.openProcessDocuments() }
        let session = try await sessions.create().0
        #expect(throws: SessionError.damaged(service: nil, reason: "torn")) { try soup(session, sessions) }
        await #expect(throws: SessionError.self) { try await call("order", in: session, of: sessions) }
        let profile = try sessions.catalog.service(named: "profile")
        #expect(try session.document(of: profile).etag == .unwritten)
        _ = try await session.startJourney(flow: "lunch")
        // An export says that something is missing, and has the rest.
        let lines = try await exported(sessions)
        #expect(lines.count == 3)
        let end = try ArchiveEnd(ArchiveLine.open(#require(lines.last)))
        #expect(end?.skipped == 1 && end?.sessions == 1)
    }

    @Test("no entity tag comes back: not in another life of a store in memory, nor when a store has lost the documents")
    func tags() async throws {
        let first = try await serve("onion", in: try sessions(store))
        let later = ManualClock()
        later.advance(60_000)
        let other = try sessions(MemoryStore(), clock: later)
        #expect(try await serve("pea", in: other).revision > first.revision)
    }

    @Test("what another server has lost this one knows, and writes it again")
    func lost() async throws {
        let hub = SharedStore()
        let door = hub.door()
        let sessions = try sessions(door)
        let known = try await serve("onion", in: sessions)
        let session = try await sessions.create().0
        #expect(try await door.end(.process))
        let anew = try await sessions.processDocuments()
        #expect(try soup(session, sessions) == "onion")
        #expect(try anew.document(of: sessions.catalog.service(named: "menu")).etag == known)
        #expect(try await serve("pea", in: sessions).revision > known.revision)
        let others = try self.sessions(hub.door())
        try await others.openProcessDocuments()
        #expect(try soup(try await others.create().0, others) == "pea")
    }
}
