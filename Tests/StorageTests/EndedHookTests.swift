import JSONDocument
import ServiceLocator
import Sessions
import Synchronization
import Testing

@Suite("Hooks at the end of stored sessions", .timeLimit(.minutes(1)))
struct EndedHookTests {
    /// Writes down the state with which it ends.
    private final class Page: SessionService {
        struct State: Codable, Sendable { var text = "" }
        static let name = "page"
        static let initial = State()
        static let hooks = Hooks<Page>(ended: { page in told.withLock { $0.append(page.state.text) } })
        static let told = Mutex<[String]>([])
        var state: State
        init(state: State, services: borrowing ServiceResolver) { self.state = state }
    }

    @Test("a session that expired while no server had it in memory tells its services once, with what was stored")
    func afterRestart() async throws {
        let file = try SQLiteFile()
        var services = SwiftServices()
        services.add(Page.self)
        let catalog = try ServiceCatalog(adding: services)
        var settings = SessionSettings()
        settings.expiredRetention = 0
        let store = try file.store(services: catalog.services.map(\.name))
        let sessions = Sessions(settings: settings, catalog: catalog, store: store)
        let page = try catalog.service(named: "page")
        for number in 1...3 {
            let (session, _) = try await sessions.create()
            // The last one is never written.
            guard number < 3 else { continue }
            _ = try await session.perform([.init(.put(["text": .init("\(number)")]), on: page)])
        }
        await store.close()
        settings.idleTimeout = 1
        let next = try file.store(services: catalog.services.map(\.name))
        let later = Sessions(settings: settings, catalog: catalog, store: next)
        while next.sessionCount > 0 {
            await later.sweepStore()
            await Task.yield()
        }
        #expect(Page.told.withLock(\.self).sorted() == ["1", "2"])
        #expect(later.statistics.ended == 3 && later.statistics.live == 0)
        await next.close()
    }
}
