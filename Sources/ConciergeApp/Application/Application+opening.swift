import Navigation
import Sessions

/// A store that no attempt will open.
struct StoreRefusedError: Error, CustomStringConvertible {
    let description: String
}

/// Journeys in the store need flows, or states of flows, that are not loaded.
package struct OrphanedJourneysError: Error, CustomStringConvertible {
    /// - count: how many journeys.
    package let versions: [(flow: String, version: Int, count: Int)]

    package var description: String {
        let needs = versions.map { needed in
            "\(needed.count) journey\(needed.count == 1 ? " needs" : "s need") version \(needed.version) of flow "
                + "\(needed.flow)"
        }
        return "\(needs.joined(separator: ", ")), which is not loaded: load it, add a migration from it, "
            + "or set orphaned_journeys to restart."
    }
}

extension Application {
    /// Checks that the journeys in the store can continue with the flows that are loaded.
    ///
    /// - Returns: false if the store is away, and may come back.
    func openStore() async throws -> Bool {
        do {
            try await openProcessDocuments()
            try await checkJourneys()
            return true
        } catch SessionError.storeUnavailable where store.isShared {
            if let refusal = store.refusal { throw StoreRefusedError(description: refusal) }
            return false
        }
    }

    /// Does the same as soon as the store is there. Until then, and if journeys need what is not loaded, the server
    /// stays not ready, and says why.
    ///
    /// - Returns: whether the store was opened.
    func openStoreLater() async -> Bool {
        var told: String?
        while !Task.isCancelled {
            // Each reason is told once.
            if let trouble = store.trouble, trouble != told {
                told = trouble
                log.write(.error, "store_away") { $0.add("detail", trouble) }
            }
            try? await Task.sleep(for: .milliseconds(100))
            do {
                guard try await openStore() else { continue }
                log.write(.info, "store_opened")
                readiness.open()
                return true
            } catch _ as StoreRefusedError {
                // An operator may mend Redis. `told` has the reason.
            } catch {
                readiness.hold("\(error)")
                log.write(.error, "store_not_opened") { $0.add("detail", "\(error)") }
                return false
            }
        }
        return false
    }

    /// When they are damaged they are 503, and everything else goes on.
    private func openProcessDocuments() async throws {
        do {
            try await sessions.openProcessDocuments()
        } catch {
            guard error.isDamage else { throw error }
            log.write(.error, "process_documents_damaged") { $0.add("detail", String(reflecting: error)) }
        }
    }

    private func checkJourneys() async throws {
        // The usual start: no flow version of any journey is missing, so no session is read.
        guard try await sessions.needsCensus() else { return }
        // Without the policy of the configuration, which is applied below.
        let engine = FlowEngine(catalog: sessions.journeySettings.engine.catalog)
        let (census, trial, isComplete) = try await sessions.runningJourneys(under: engine)
        // A journey that cannot move to a newer version is stuck, and no reason not to start.
        let missing = trial.lost.filter { $0.loss.detail == nil }
        guard !missing.isEmpty else {
            // What cannot be read now may be read at the next start, which then looks for the flows of it again.
            if isComplete { try await sessions.keepFlows(of: census) }
            return
        }
        let error = OrphanedJourneysError(versions: missing.map { ($0.loss.flow, $0.loss.version, $0.count) })
        guard configuration.orphanedJourneys == .restart else { throw error }
        log.write(.warning, "orphaned_journeys") { $0.add("detail", "\(error) They restart.") }
    }
}
