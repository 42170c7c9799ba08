import FlowTools
import JSONDocument
import Navigation
import ServiceLocator
import Synchronization
import Testing

@testable import Sessions

/// Sessions with a clock to move and a store to look into.
struct SessionsFixture {
    let sessions: Sessions
    let clock: ManualClock
    let store: any SessionStore
    let notes = ServiceNotes()

    static let declarations = [
        ServiceDefinition(
            declared: "counter",
            schema: ["type": "object", "required": ["count"], "properties": ["count": ["type": "integer"]]],
            default: ["count": 0]),
        ServiceDefinition(declared: "cart", default: ["items": []], lifetime: 60_000),
        ServiceDefinition(declared: "notes", concurrency: .firstWrite),
        ServiceDefinition(declared: "mail", isUserBound: true),
    ]

    init(
        store: any SessionStore = MemoryStore(), clock: ManualClock = ManualClock(), flows: [String] = [],
        adding added: SwiftServices? = nil, mainFlow: String? = nil, maxJourneys: Int = 16,
        orphans: FlowEngine.OrphanPolicy = .refuse,
        _ configure: (inout SessionSettings) -> Void = { _ in }
    ) throws {
        var settings = SessionSettings()
        configure(&settings)
        self.store = store
        self.clock = clock
        // The cart in Swift has the name of one of the declared services.
        let catalog = try ServiceCatalog(
            declarations: added == nil ? Self.declarations : [], adding: added ?? SwiftServices())
        sessions = Sessions(
            settings: settings, catalog: catalog, store: store, clock: clock, random: SystemRandom(),
            journeys: JourneySettings(
                engine: FlowEngine(catalog: try Self.load(flows, with: catalog), orphans: orphans), mainFlow: mainFlow,
                maxJourneys: maxJourneys), note: notes.note)
    }

    private static func load(_ flows: [String], with services: ServiceCatalog) throws -> FlowCatalog {
        let files = flows.enumerated().map { FlowFile(name: "\($0.offset).json", bytes: Array($0.element.utf8)) }
        let (catalog, problems) = FlowLoader(services: services.directory).load(files)
        return try #require(catalog, "\(problems)")
    }

    func service(_ name: String) throws -> RegisteredService { try sessions.catalog.service(named: name) }

    func session() async throws -> Session { try await sessions.create().0 }

    /// The document that a GET shows, and its tag.
    func get(_ name: String, _ session: Session) throws -> (document: JSONDocument, etag: ServiceETag) {
        let (bytes, etag) = try session.document(of: try service(name))
        let seen = try session.document(of: try service(name))
        #expect(seen.bytes == bytes && seen.etag == etag)
        return (try JSONDocument(parsing: bytes), etag)
    }

    @discardableResult
    func perform(
        _ action: ServiceOperation.Action, on name: String, _ session: Session,
        if condition: WriteCondition = .none, by caller: ServiceCaller = .client
    ) async throws -> ServiceOperation.Outcome {
        try await session.perform(.init(action, on: try service(name), condition: condition), by: caller)
    }

    func status(_ name: String, _ session: Session) throws -> ServiceStatus? {
        try session.services().first { $0.name == name }
    }

    /// By the store's index.
    func runningJourneys() async throws -> Int {
        await sessions.countStore()
        return sessions.statistics.counts.running
    }

    func isAuthenticated(_ token: SessionToken) async throws -> Bool {
        do {
            _ = try await sessions.authenticate(token.presented)
            return true
        } catch .unauthenticated {
            return false
        }
    }
}

/// Writes down what the log would say of the code of services.
final class ServiceNotes: Sendable {
    private let recorded = Mutex<(slow: [String], failed: [String])>(([], []))

    var slow: [String] { recorded.withLock(\.slow) }
    var failed: [String] { recorded.withLock(\.failed) }

    @Sendable func note(_ note: ServiceNote) {
        recorded.withLock { recorded in
            switch note {
            case .slow(let service, let command, _): recorded.slow.append("\(service)/\(command)")
            case .failed(let service, let hook, _): recorded.failed.append("\(service)/\(hook)")
            case .held, .undone: break
            }
        }
    }
}

/// Watches a session from now on, and writes down what it is told.
final class ChangeSpy: Sendable {
    private let watcher: SessionWatcher
    private let recorded = Mutex<(changes: [SessionChange], end: WatchEnd?)>(([], nil))

    var changes: [SessionChange] { recorded.withLock(\.changes) }
    var end: WatchEnd? { recorded.withLock(\.end) }

    init(_ session: Session) throws {
        watcher = try session.watch(token: nil)
        next()
    }

    deinit { watcher.leave() }

    private func next() {
        watcher.next { [weak self] event in self?.note(event) }
    }

    private func note(_ event: SessionWatcher.Event) {
        switch event {
        case .commits(let commits): recorded.withLock { $0.changes += commits.flatMap(\.changes) }
        case .nothing: break
        case .lost:
            Issue.record("The history was too short.")
            return
        case .ended(let end): return recorded.withLock { $0.end = end }
        }
        next()
    }
}

extension Session {
    /// Performs an operation and waits until it is done.
    func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller = .client
    ) async throws -> ServiceOperation.Outcome {
        try await withCheckedThrowingContinuation { waiting in
            perform(operation, by: caller) { waiting.resume(with: $0) }
        }
    }
}

extension SessionsFixture {
    /// The session of a token, if memory has it and other processes may have changed it.
    func remembered(_ token: PresentedToken) -> Session? {
        if case .remembered(let session) = try? sessions.find(token) { session } else { nil }
    }
}

extension SessionRegistry {
    /// The number of entries in the index of deadlines, including stale ones.
    var indexedCount: Int {
        (0..<shards.count).reduce(0) { $0 + shards.withLock($1) { $0.expiry.count } }
    }
}

extension Session {
    /// The last committed state of a service of Swift.
    func state<Object: SessionService>(of type: Object.Type) throws -> Object.State {
        let service = try environment.definitions.catalog.service(named: Object.name)
        return try service.decode(Object.State.self, try JSONDocument(parsing: try document(of: service).bytes))
    }
}

extension Session {
    /// As a request has it, whose path lies in memory.
    func shownJourney(_ id: String) -> JourneyText? { Array(id.utf8).withUnsafeBytes { shownJourney($0) } }
}

extension Session {
    /// A unit of work on typed services, as commands do theirs.
    nonisolated(nonsending) func update<Result: Sendable>(
        inJourney journey: String? = nil, _ body: @escaping @Sendable (ServiceLocator) throws -> Result
    ) async throws -> Result {
        try await transact { [self] pending in
            try environment.withLocator(on: &pending, inJourney: journey, body)
        }
    }
}

extension WriteCondition {
    /// Holds for a journey at that step.
    static func atStep(_ step: UInt64) -> Self { .init(step: step) }
}
