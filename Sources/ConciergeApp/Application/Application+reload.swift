import API
import Configuration
import HTTPServer
import JSONDocument
import Navigation
import Operations
import Sessions
import Threads

extension Application {
    /// What a reload replaces.
    package struct Loaded: Sendable {
        /// That of the start, with what reloads have changed since.
        var configuration: Configuration
        var services: [ServiceFile]
        var flows: FlowCatalog
    }

    /// That of the start, with what reloads have changed since.
    package var configurationInForce: Configuration { loaded.configuration }

    /// Opens again what others replace while the server runs, the file of audit lines and the certificate, and reads
    /// the configuration again. What comes of it is logged.
    package func hangUp() async {
        audit.reopen()
        reloadCertificates()
        _ = try? await reload()
    }

    /// Reads the configuration, the service files and the flow files again, and takes them over between two requests,
    /// or changes nothing. Reloads run one after the other.
    ///
    /// - Parameter isOfAuthor: also takes over what journeys in the store cannot go on with, and leaves it to the
    ///   caller to tell what comes of it.
    /// - Throws: ``ReloadRefused``; the store's error when it cannot say what journeys need.
    @discardableResult
    package func reload(isOfAuthor: Bool = false) async throws -> Reload {
        let former = reloading
        let task = Task {
            _ = await former?.result
            return try await self.reloadNow(checksJourneys: !isOfAuthor)
        }
        reloading = task
        let result = await task.result
        if !isOfAuthor { tell(result) }
        return try result.get()
    }

    private func tell(_ result: Result<Reload, any Error>) {
        switch result {
        case .success(let reload): log.write(.info, "reloaded") { $0.add("detail", reload.summary) }
        case .failure(let refusal as ReloadRefused):
            for finding in refusal.findings {
                log.write(.error, "reload_refused") { $0.add("detail", "\(finding)") }
            }
        case .failure(let error):
            log.write(.error, "reload_refused") { $0.add("detail", "\(error)") }
        }
    }

    private func reloadNow(checksJourneys: Bool) async throws -> Reload {
        guard let again else { return Reload() }
        let new = await Self.onThread(again)
        guard !new.hasErrors else { throw ReloadRefused(findings: new.problems) }
        let reload = Reload(from: loaded, to: new)
        var next = Loaded(configuration: loaded.configuration, services: new.services, flows: new.flows)
        for key in ConfigurationKey.changes(from: next.configuration, to: new.configuration) where key.isReloadable {
            key.take(new.configuration, &next.configuration)
        }
        guard reload.hasChanged else { return reload }
        try await takeOver(
            next, of: new, changesDefinitions: reload.changesDefinitions,
            checksJourneys: checksJourneys && reload.concernsJourneys)
        return reload
    }

    private func takeOver(
        _ next: Loaded, of new: LoadedConfiguration, changesDefinitions: Bool, checksJourneys: Bool
    ) async throws {
        var (catalog, flows) = (sessions.catalog, loaded.flows)
        if changesDefinitions {
            guard readiness.isOpen else { throw SessionError.storeUnavailable(reason: "It is not open yet.") }
            catalog = try Self.catalog(of: new, names: catalog.names)
            flows = new.flows
        }
        if checksJourneys { try await checkJourneys(under: flows, catalog, of: new, next.configuration) }
        // First of all: what throws has changed nothing.
        let former = loaded
        loaded = next
        loaded.flows = flows
        let (publicRoutes, adminRoutes): (Router, Router)
        do {
            publicRoutes = try self.publicRoutes(catalog)
            adminRoutes = try self.adminRoutes(catalog)
            try await sessions.replaceDefinitions(
                catalog, JourneySettings(next.configuration, flows: flows))
        } catch {
            loaded = former
            throw error
        }
        log.setLevel(next.configuration.log.level)
        let crossOrigin = HTTPServerConfiguration.crossOrigin(next.configuration)
        await running?.publicServer.replaceRoutes(publicRoutes, crossOrigin: crossOrigin)
        await running?.adminServer.replaceRoutes(adminRoutes)
    }

    /// Refuses what `concierge check --against` reports: journeys that could not go on, and data that would not fit.
    private func checkJourneys(
        under flows: FlowCatalog, _ catalog: ServiceCatalog, of new: LoadedConfiguration,
        _ configuration: Configuration
    ) async throws {
        let engine = FlowEngine(catalog: flows)
        let (census, trial, _) = try await sessions.runningJourneys(under: engine, with: catalog)
        let tried = ImpactReport.TriedFlows(trial)
        let report = ImpactReport(
            JourneyImpact(of: engine, on: census), tried, orphans: configuration.orphanedJourneys)
        var findings: [ConfigurationProblem] = []
        if report.losesJourneys {
            let place = configuration.flows.map(ValueOrigin.file) ?? new.origin(of: "flows")
            findings = report.lines.map { ConfigurationProblem(at: place, code: "lost_journeys", $0) }
        }
        findings += tried.misfits.map { $0.problem(in: new.services, with: FileReader()) }
        guard findings.isEmpty else { throw ReloadRefused(findings: new.problems + findings) }
    }

    private static func catalog(
        of new: LoadedConfiguration, names: ServiceNames
    ) throws(ReloadRefused) -> ServiceCatalog {
        do {
            return try new.catalog(names: names)
        } catch {
            let found = error.problems.map {
                ConfigurationProblem(at: new.origin(of: "services"), code: "services", $0)
            }
            throw ReloadRefused(findings: new.problems + found)
        }
    }

    /// Files are read, and flows checked, on a thread of its own.
    private static func onThread<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
        await withCheckedContinuation { continuation in
            DetachedThread.run("reload") { continuation.resume(returning: body()) }
        }
    }
}
