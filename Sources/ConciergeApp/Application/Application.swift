import API
import Configuration
import FlowTools
import Glibc
import HTTPServer
import JSONDocument
import Navigation
import Operations
import Sessions

/// The program as a value: made from a configuration, started, stopped. It is the only composition root: no part looks
/// up another one.
///
/// ```swift
/// let application = try Application(configuration, services: [])
/// let addresses = try await application.start()
/// print("http://127.0.0.1:\(addresses.publicPort)/version")
/// await application.stop()
/// ```
package actor Application {
    /// The ports of the listeners, also when free ports were requested.
    package struct Addresses: Sendable {
        package let publicPort: UInt16
        package let adminPort: UInt16
    }

    struct Running {
        let publicServer: HTTPServer
        let adminServer: HTTPServer
        /// The tasks that remove expired sessions, and tell watchers of time.
        let sweepers: [Task<Void, Never>]
        /// Whether the store was opened, once that is known.
        let opening: Task<Bool, Never>
        /// Nil when no tasks of journeys are sent.
        let sender: (tasks: TaskSender, running: [Task<Void, Never>])?
    }

    let configuration: Configuration
    let log: Log
    var loaded: Loaded
    /// Reads the files again; nil for an application that none are behind.
    let again: (@Sendable () -> LoadedConfiguration)?
    /// The last reload.
    var reloading: Task<Reload, any Error>?
    let sessions: Sessions
    private let idempotency: Idempotency
    private let quotas: Quotas
    private let problems = ProblemCounts()
    private let adminAccess: AdminAccess
    let audit: AuditLog
    private let metrics = LateMetrics()
    private let connections = ConnectionCounts()
    private let startedAt = ContinuousClock.now
    private let certificateEnd = CertificateEnd()
    let readiness: Readiness
    /// Closed after the last writer has ended.
    let store: any SessionStore
    let sockets: InheritedSockets
    private let backups: StoreBackups?
    private(set) var running: Running?

    /// - Parameters:
    ///   - services: the declared document services.
    ///   - added: services in Swift.
    ///   - flows: the flows of journeys.
    ///   - log: `nil` for the standard error of this process.
    ///   - store: `nil` for the configured store.
    ///   - clock: the time by which sessions expire.
    ///   - sockets: where hosts that are `systemd` listen.
    ///   - again: reads the configuration again, for reloads.
    /// - Throws: `ServiceCatalogError` with every problem of the services, `StoreOpeningError`, `AuditFileError`.
    package init(
        _ configuration: Configuration, services: [ServiceFile] = [], adding added: SwiftServices = SwiftServices(),
        flows: FlowCatalog = .empty, log: Log? = nil, store: (any SessionStore)? = nil,
        clock: any SessionClock = SystemClock(), sockets: InheritedSockets = .ofProcess,
        again: (@Sendable () -> LoadedConfiguration)? = nil
    ) throws {
        self.configuration = configuration
        self.sockets = sockets
        loaded = Loaded(configuration: configuration, services: services, flows: flows)
        self.again = again
        self.log = log ?? Log(settings: configuration.log)
        let catalog = try ServiceCatalog(
            declarations: services.map(ServiceDefinition.init), adding: added)
        let store =
            try store
            ?? configuration.openStore(for: catalog, clock: clock) { [log = self.log] sentence, level, event in
                log.write(level, event) { $0.add("detail", sentence) }
            }
        readiness = Readiness(store: store)
        self.store = store
        backups = StoreBackups(configuration, store, clock: clock, log: self.log)
        sessions = Sessions(
            settings: SessionSettings(configuration), catalog: catalog, store: store, clock: clock,
            journeys: JourneySettings(configuration, flows: flows),
            note: { [log = self.log] in log.write($0) })
        quotas = Quotas(configuration.quotas, proxies: configuration.proxies.networks)
        audit = try AuditLog(configuration.log, log: self.log)
        adminAccess = AdminAccess(
            configuration.admin, isTLS: configuration.tls.certificate != nil, clock: clock, audit: audit)
        idempotency = Idempotency(limits: .init(configuration.idempotency), sessions: sessions, clock: clock)
    }

    /// Binds both listeners and serves. Returns when both accept connections. If a shared store is away, the server is
    /// not ready, and opens it as soon as it is there.
    ///
    /// - Throws: `HTTPServerError` when an address cannot be bound, ``OrphanedJourneysError`` when journeys in the
    ///   store need flows that are not loaded, ``StoreRefusedError``. Then nothing is left running.
    @discardableResult
    package func start() async throws -> Addresses {
        precondition(running == nil, "an application starts once")
        let isOpen: Bool
        do {
            isOpen = try await openStore()
        } catch {
            await store.close()
            throw error
        }
        let sender = try taskSender()
        let (publicRoutes, adminRoutes) = (try publicRoutes(sessions.catalog), try adminRoutes(sessions.catalog))
        let metrics = Metrics(
            listeners: [("public", publicRoutes.routes), ("admin", adminRoutes.routes)], workers: configuration.workers)
        self.metrics.set(metrics)
        let tls = try readCertificates()
        var publicListener = HTTPServerConfiguration.publicListener(configuration, tls: tls?.publicListener)
        publicListener.admission = quotas.admit
        publicListener.inheritedListener = try inheritedSocket("public")
        let publicServer = try HTTPServer(
            router: publicRoutes, configuration: publicListener,
            errors: ProblemRenderer(log: log, counts: problems),
            observer: RequestObserver(log: log, metrics: metrics, listener: 0))
        let adminServer: HTTPServer
        do {
            var adminListener = HTTPServerConfiguration.adminListener(configuration, tls: tls?.adminListener)
            adminListener.inheritedListener = try inheritedSocket("admin")
            adminServer = try HTTPServer(
                router: adminRoutes, configuration: adminListener,
                errors: ProblemRenderer(log: log, counts: problems),
                observer: RequestObserver(log: log, metrics: metrics, listener: 1))
        } catch {
            await publicServer.stop(timeout: .zero)
            throw error
        }
        connections.count(publicServer, adminServer)
        readiness.beginServing(on: publicServer)
        if isOpen { readiness.open() }
        let opening = Task { isOpen ? true : await openStoreLater() }
        running = Running(
            publicServer: publicServer, adminServer: adminServer,
            sweepers: [
                Task { [sessions] in if await opening.value { await sessions.run() } },
                Task { [sessions] in if await opening.value { await sessions.runDue() } },
                Task { [sessions] in if await opening.value { await sessions.runPlaces() } },
                Task { [sessions] in await sessions.runWatches() },
                Task { [sessions] in if await opening.value { await sessions.runProcessDocuments() } },
                Task { [backups] in if await opening.value { await backups?.run() } },
            ],
            opening: opening,
            sender: sender.map { sender in
                (
                    sender,
                    configuration.taskTargets.map { target in
                        Task { if await opening.value { await sender.run(target) } }
                    }
                )
            })
        log.write(.info, "listening") { line in
            line.add("public", address(of: publicServer, at: configuration.host))
            line.add("admin", address(of: adminServer, at: configuration.admin.host))
            line.add("version", BuildInformation.version)
            line.add("store", configuration.store.description)
            let store = StoreDescription(configuration, store)
            line.add("durability", store.durability)
            if let interval = store.syncInterval { line.add("sync_interval_ms", Int(interval.milliseconds)) }
            line.add("workers", configuration.workers)
        }
        return Addresses(publicPort: publicServer.port, adminPort: adminServer.port)
    }

    /// Reads certificate, key and authorities again, for connections that are accepted from now on. Others keep theirs.
    /// A problem of the files is logged, and then nothing changes.
    func reloadCertificates() {
        guard let running else { return }
        do {
            guard let tls = try readCertificates() else { return }
            running.publicServer.replaceCertificate(tls.publicListener)
            running.adminServer.replaceCertificate(tls.adminListener)
            log.write(.info, "certificate_loaded") {
                $0.add("expires_at", "\(Timestamp(millisecondsSince1970: Int64(tls.publicListener.ends) * 1000))")
            }
        } catch {
            log.write(.error, "certificate_refused") { $0.add("detail", "\(error); the former one stays.") }
        }
    }

    private func readCertificates() throws -> TLSFiles? {
        let tls = try TLSFiles.read(configuration.tls)
        if let tls { certificateEnd.note(Int(tls.publicListener.ends)) }
        if let sentence = tls?.lapse() {
            log.write(.warning, "certificate_not_valid") { $0.add("detail", "\(sentence): clients will refuse it.") }
        }
        return tls
    }

    /// Drains and stops: requests in progress are answered, then the listeners and the sweepers end. The admin listener
    /// ends last, so that an operator can watch.
    ///
    /// - Parameter drained: called when no request is in progress any more, before the store is closed.
    package func stop(drained: () -> Void = {}) async {
        guard let running else { return }
        self.running = nil
        readiness.beginDraining()
        // The sweepers wait for it.
        running.opening.cancel()
        running.sender?.tasks.beginStopping()
        log.write(.info, "draining")
        let (begin, timeout) = (ContinuousClock.now, configuration.drainTimeout)
        async let stopped: Void = running.publicServer.stop(delay: configuration.drainDelay, timeout: timeout)
        // Until the delay is over load balancers send streams and requests that wait here as well, and those that had
        // to end now would come back to this server.
        try? await Task.sleep(for: min(configuration.drainDelay, timeout))
        sessions.stopWaitingForTasks()
        sessions.stopWatching()
        await stopped
        // An export may be in progress there.
        await running.adminServer.stop(timeout: max(min(.seconds(1), timeout), timeout - (.now - begin)))
        drained()
        if let (sender, running) = running.sender {
            let limit = Task {
                try? await Task.sleep(for: timeout - (.now - begin))
                sender.close()
            }
            for task in running { await task.value }
            limit.cancel()
        }
        for sweeper in running.sweepers {
            sweeper.cancel()
            await sweeper.value
        }
        await store.close()
        audit.flush()
        log.write(.info, "stopped")
        log.flush()
    }

    /// Nil when no tasks are sent.
    private func taskSender() throws -> TaskSender? {
        guard !configuration.taskTargets.isEmpty else { return nil }
        guard let sender = TaskSender(sessions: sessions, log: log) else { throw TaskSenderError() }
        return sender
    }

    private var caller: SessionCaller {
        SessionCaller(
            sessions: sessions, cookie: SessionCookie(configuration.cookie),
            allowedOrigins: WebOrigins(loaded.configuration.cors.allowedOrigins),
            watchingExtends: configuration.watchingExtends,
            quotas: quotas, log: log)
    }

    /// The routes of each listener are the same at each reload, so that the metrics are.
    func publicRoutes(_ catalog: ServiceCatalog) throws -> Router {
        let caller = caller
        let journeys = JourneyEndpoints(
            caller: caller, session: caller.inPath, flows: loaded.flows, on: .public)
        let services = ServiceEndpoints(catalog: catalog, caller: .client, session: caller.inPath)
        let journeyServices = services.ofJourney
        var routes = RouterBuilder()
        // Before the next: the query of a page is for the page.
        if configuration.demo { PageEndpoints.demo.add(to: &routes) }
        routes.use(QueryMiddleware(.public))
        let program = ProgramEndpoints(readiness: readiness)
        program.addHealth(to: &routes)
        program.add(to: &routes)
        describe(.public, catalog).add(to: &routes)
        if store.isShared { routes.use(OpeningMiddleware(readiness: readiness)) }
        routes.group(
            IdempotencyMiddleware(
                idempotency, errors: ProblemRenderer(log: log, counts: problems), owner: caller.keyOwner,
                residentOwner: caller.residentKeyOwner)
        ) { routes in
            SessionEndpoints(sessions: sessions, caller: caller).add(to: &routes)
            TransactionEndpoint(catalog: catalog, caller: caller).add(to: &routes)
            journeys.add(to: &routes)
            services.addWrites(to: &routes)
            journeyServices.addWrites(to: &routes)
        }
        let checkCaller: FlowEndpoints.CallerCheck = { request in _ = try await caller.session(of: request) }
        WatchEndpoint(sessions: sessions, caller: caller).add(to: &routes)
        FlowEndpoints(
            pages: FlowPages(loaded.flows), graphs: FlowGraphs(draw: Self.drawing),
            isPublic: loaded.configuration.flowsPublic, checkCaller: checkCaller
        ).add(to: &routes)
        services.add(to: &routes)
        journeyServices.add(to: &routes)
        return try routes.freeze()
    }

    func adminRoutes(_ catalog: ServiceCatalog) throws -> Router {
        var routes = RouterBuilder()
        PageEndpoints.console.add(to: &routes)
        routes.group(QueryMiddleware(.admin)) { routes in
            let program = ProgramEndpoints(readiness: readiness)
            program.addHealth(to: &routes)
            program.add(to: &routes)
            describe(.admin, catalog).add(to: &routes)
        }
        routes.group(
            AdminMiddleware(access: adminAccess), QueryMiddleware(.admin), EndedSessionMiddleware()
        ) { routes in
            ConsoleEndpoints(access: adminAccess).add(to: &routes)
            StatusEndpoints(
                sessions: sessions, store: StoreDescription(configuration, store),
                file: (store as? any FileStore)?.file, startedAt: startedAt,
                metrics: { [metrics, parts = metricParts] in metrics.metrics?.render($0, with: parts) ?? [] }
            ).add(to: &routes)
            if store.isShared { routes.use(OpeningMiddleware(readiness: readiness)) }
            let endpoints = AdminSessionEndpoints(sessions: sessions, log: log)
            let anySession = SessionFinder(any: endpoints.session)
            let services = ServiceEndpoints(catalog: catalog, caller: .admin, session: anySession)
            let journeyServices = services.ofJourney
            services.add(to: &routes)
            journeyServices.add(to: &routes)
            let documents = ServiceEndpoints(catalog: catalog, of: sessions)
            documents.add(to: &routes)
            let moving = MoveEndpoints(sessions: sessions, log: log)
            moving.addExports(to: &routes)
            routes.group(adminIdempotency { _ in .administrator(nil) }, add: moving.addImports)
            let journeys = AdminJourneyEndpoints(
                sessions: sessions, session: endpoints.session,
                journeys: JourneyEndpoints(
                    caller: caller, session: anySession, flows: loaded.flows, on: .admin))
            routes.group(adminIdempotency(endpoints.keyOwner)) { routes in
                endpoints.add(to: &routes)
                PersonEndpoints(sessions: sessions).add(to: &routes)
                journeys.add(to: &routes)
                services.addWrites(to: &routes)
                journeyServices.addWrites(to: &routes)
                documents.addWrites(to: &routes)
            }
            let tasks = TaskEndpoints(sessions: sessions)
            routes.group(TaskEndpoints.Patience(), adminIdempotency(tasks.keyOwner), add: tasks.add)
            StoreEndpoints(sessions: sessions).add(to: &routes)
            let reload = ReloadEndpoint { [weak self] in
                guard let self else { throw CancellationError() }
                return try await self.reload()
            }
            routes.group(
                ReloadEndpoint.Patience(), adminIdempotency { _ in .administrator(nil) }, add: reload.add)
            FunnelEndpoints(sessions: sessions, pages: FlowPages(loaded.flows)).add(to: &routes)
        }
        return try routes.freeze()
    }

    /// What has metrics of its own.
    private var metricParts: [Metrics.Part] {
        [
            connections.write(to:), readiness.write(to:), certificateEnd.write(to:),
            { [sessions] in sessions.statistics.write(to: &$0) }, sessions.transitions.write(to:),
            { [store] in (store as? any FileStore)?.figures.write(to: &$0) }, log.write(to:), audit.write(to:),
            problems.write(to:), { [quotas, adminAccess] in quotas.write(to: &$0, and: adminAccess.refusals) },
            { [backups] in backups?.write(to: &$0) },
        ]
    }

    private func adminIdempotency(_ owner: @escaping IdempotencyMiddleware.Owner) -> IdempotencyMiddleware {
        IdempotencyMiddleware(
            idempotency, errors: ProblemRenderer(log: log, counts: problems), owner: owner,
            residentOwner: { _ in nil })
    }

    private func describe(_ listener: APIListener, _ catalog: ServiceCatalog) -> OpenAPIEndpoint {
        // The description is public, so it leaves out flows that need a token.
        OpenAPIEndpoint(
            listener: listener, services: catalog.services(for: listener == .admin ? .admin : .client),
            flows: loaded.configuration.flowsPublic == .nothing ? .empty : loaded.flows)
    }

    /// `nil` if Graphviz is not installed.
    private static var drawing: FlowGraphs.Drawing? {
        guard let path = getenv("PATH"), let tool = GraphvizTool(searching: String(cString: path)) else { return nil }
        return { try await tool.svg(of: $0) }
    }
}
