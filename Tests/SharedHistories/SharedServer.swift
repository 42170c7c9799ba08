import ConciergeApp
import FlowTools
import JSONDocument
import Navigation
import RedisTestServer
import Sessions

@testable import RedisStorage

/// What of a server matters here, without HTTP: its sessions and its idempotency keys, on a Redis behind a proxy.
final class SharedServer: Sendable {
    /// Between it and Redis.
    let proxy: FaultProxy
    let store: RedisStore
    let sessions: Sessions
    let idempotency: Idempotency
    private let upkeep: [Task<Void, Never>]

    /// Longer than most delays, and so short that an operation that waits for nothing does not wait long.
    static let deadline = Duration.milliseconds(400)

    private static let flow = """
        {"id": "work", "version": 1, "initial": "ready", "states": {
           "ready": {"on": {"begin": {"target": "busy", "nav": "set_root"}}},
           "busy": {"type": "task", "task": "work", "timeout": "300h", "retry": {"attempts": 100, "after": "1s"},
             "on": {"done": {"target": "ready", "nav": "set_root"}}}}}
        """

    init(_ redis: RedisTestServer, residents: Int) throws {
        proxy = try FaultProxy(to: redis.port)
        let initial: JSONDocument = ["era": 0, "count": 0, "last": []]
        let catalog = try ServiceCatalog(declarations: [
            ServiceDefinition(declared: "chain", default: initial),
            ServiceDefinition(declared: "mirror", default: initial),
            ServiceDefinition(declared: "log", default: []),
            ServiceDefinition(declared: "ticks", default: ["count": 0]),
        ])
        var storing = RedisStore.Settings()
        storing.deadline = Self.deadline
        store = try RedisStore(
            try RedisAddress("redis://127.0.0.1:\(proxy.port)"), services: catalog.names,
            settings: storing)
        var settings = SessionSettings()
        settings.idleTimeout = 24 * 3_600_000
        settings.lifetime = 48 * 3_600_000
        settings.maxResidentBytes = residents * Session.footprint
        let flows = FlowLoader(services: catalog.directory).load([
            FlowFile(name: "work.json", bytes: Array(Self.flow.utf8)),
            FlowFile(name: "tick.json", bytes: Array(Tickers.flow.utf8)),
        ])
        guard let flows = flows.catalog else { throw BadFlow(problems: "\(flows.problems)") }
        sessions = Sessions(
            settings: settings, catalog: catalog, store: store,
            journeys: JourneySettings(engine: FlowEngine(catalog: flows), mainFlow: "work"))
        idempotency = Idempotency(sessions: sessions, clock: SystemClock())
        upkeep = [Task { [sessions] in await sessions.run() }, Task { [sessions] in await sessions.runDue() }]
    }

    struct BadFlow: Error { let problems: String }

    /// Ends it so that nothing that is on its way arrives.
    func kill() async {
        await proxy.set(.refusing)
        await proxy.cause(.cut)
        for task in upkeep { task.cancel() }
        Task { [store, proxy] in
            await store.close()
            proxy.close()
        }
    }

    func close() async {
        for task in upkeep { task.cancel() }
        for task in upkeep { await task.value }
        await store.close()
        proxy.close()
    }
}
