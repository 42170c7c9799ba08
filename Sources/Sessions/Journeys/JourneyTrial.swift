import JSONDocument
import Navigation

/// What would become of running journeys under other flows: each was tried with the data that it has. Counts journeys.
package struct JourneyTrial: Sendable {
    /// Journeys that could not go on, for one reason.
    package struct Loss: Sendable, Hashable {
        /// The flow and version that is the reason, else that of the journey.
        package let flow: String
        package let version: Int
        /// Nil when the version is not loaded, or lacks a screen; else why the journey cannot move to the next version.
        package let detail: String?

        package init(flow: String, version: Int, detail: String?) {
            self.flow = flow
            self.version = version
            self.detail = detail
        }
    }

    package private(set) var running = 0
    /// Those that would stay as they are.
    package private(set) var staying = 0
    private var losses: [Loss: Int] = [:]

    package init() {}

    /// Those that would be lost, sorted.
    package var lost: [(loss: Loss, count: Int)] {
        losses.sorted {
            ($0.key.flow, $0.key.version, $0.key.detail ?? "") < ($1.key.flow, $1.key.version, $1.key.detail ?? "")
        }.map { ($0.key, $0.value) }
    }

    /// Tries the journeys of a session, one after the other: the first may change services that the next sees.
    mutating func take(
        _ kept: KeptJourneys, _ record: SessionRecord, _ catalog: ServiceCatalog, _ engine: FlowEngine, now: Int64
    ) {
        let documents = SessionDocuments(record.services, of: catalog, knowing: [])
        documents.patched = kept.patched
        for journey in kept.journeys where journey.isActive {
            running += 1
            do throws(JourneyRefusal) {
                if let step = try engine.renewed(journey, services: documents, now: now) {
                    documents.apply(step)
                } else if let changed = engine.changedVersion(under: journey) {
                    losses[Loss(flow: changed.flow, version: changed.version, detail: nil), default: 0] += 1
                } else {
                    staying += 1
                }
            } catch {
                losses[Loss(error, journey), default: 0] += 1
            }
        }
    }
}

extension JourneyTrial.Loss {
    fileprivate init(_ refusal: JourneyRefusal, _ journey: Journey) {
        if case .orphaned(let flow, let version) = refusal {
            self.init(flow: flow, version: version, detail: nil)
        } else {
            let place = refusal.violations.first.map { "\($0.pointer) \($0.detail)" }
            self.init(flow: journey.flow, version: journey.version, detail: place ?? "it cannot start over")
        }
    }
}

extension SessionDocuments {
    /// Takes the changes of a step that is only tried.
    fileprivate func apply(_ step: Step) {
        for change in step.changes {
            guard let service = catalog[change.service] else { continue }
            if case .written(let document) = change.effect {
                replace(service, by: document, keptAs: nil, revision: 0)
            } else {
                replace(service, by: service.default, keptAs: nil, revision: 0)
            }
        }
        patched += step.patches
    }
}
