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
    }

    /// Journeys whose data would not fit the schema of a service: a step that writes it would be refused.
    package struct Misfit: Sendable, Hashable {
        /// Those of the journey, after it has moved to the newest version.
        package let flow: String
        package let version: Int
        package let service: String
        /// Within the service's state.
        package let pointer: String
        package let detail: String

        package init(flow: String, version: Int, service: String, pointer: String, detail: String) {
            (self.flow, self.version, self.service) = (flow, version, service)
            (self.pointer, self.detail) = (pointer, detail)
        }
    }

    package private(set) var running = 0
    /// Those that would stay as they are.
    package private(set) var staying = 0
    private var losses: [Loss: Int] = [:]
    private var unfit: [Misfit: Int] = [:]
    private let services: ServiceCatalog
    private let engine: FlowEngine
    /// What each flow may mean by a service.
    private let uses: [FlowUses]

    /// - Parameter services: as the flows would have them.
    init(of engine: FlowEngine, with services: ServiceCatalog) {
        self.engine = engine
        self.services = services
        uses = engine.catalog.flows.map(FlowUses.init)
    }

    /// Those whose data would not fit, sorted.
    package var misfits: [(misfit: Misfit, count: Int)] {
        unfit.sorted {
            ($0.key.flow, $0.key.version, $0.key.service, $0.key.pointer, $0.key.detail)
                < ($1.key.flow, $1.key.version, $1.key.service, $1.key.pointer, $1.key.detail)
        }.map { ($0.key, $0.value) }
    }

    /// Those that would be lost, sorted.
    package var lost: [(loss: Loss, count: Int)] {
        losses.sorted {
            ($0.key.flow, $0.key.version, $0.key.detail ?? "") < ($1.key.flow, $1.key.version, $1.key.detail ?? "")
        }.map { ($0.key, $0.value) }
    }

    /// Tries the journeys of a session, one after the other: the first may change services that the next sees.
    mutating func take(
        _ kept: KeptJourneys, _ record: SessionRecord, _ environment: SessionEnvironment, now: Int64
    ) {
        let definitions = environment.definitions
        let documents = SessionDocuments(record.services, environment, definitions, trying: services)
        documents.patched = kept.patched
        for journey in kept.journeys where journey.isActive {
            running += 1
            if let lost = engine.lostOutcome(of: journey, among: definitions.journeys.engine.catalog) {
                let loss = Loss(
                    flow: lost.flow, version: lost.version,
                    detail:
                        "the outcome \"\(lost.outcome)\" of a task that is under way is gone; name its successor in "
                        + "outcomes of the migration")
                losses[loss, default: 0] += 1
                continue
            }
            do throws(JourneyRefusal) {
                if let step = try engine.renewed(journey, services: documents, now: now) {
                    documents.apply(step)
                    note(step.journey, record, documents)
                } else if let changed = engine.changedVersion(under: journey) {
                    losses[Loss(flow: changed.flow, version: changed.version, detail: nil), default: 0] += 1
                } else {
                    staying += 1
                    note(journey, record, documents)
                }
            } catch {
                losses[Loss(error, journey), default: 0] += 1
            }
        }
    }

    /// Notes what has been written of the journey's data, and of the session's as far as its flows use that, and does
    /// not fit.
    private mutating func note(_ journey: Journey, _ record: SessionRecord, _ documents: SessionDocuments) {
        var written = journey.owned.map { (service: $0.name, document: $0.document) }
        let owners = engine.owners(in: journey)
        let names = Set(journey.coordinators.map(\.flow))
        let used = uses.filter { names.contains($0.flow) }.reduce(into: Set()) { $0.formUnion($1.names) }
        for name in used where owners.level(of: name) == nil {
            guard let service = documents.catalog[name], record.document(of: service.index) != nil,
                let document = documents.document(of: name)
            else { continue }
            written.append((name, document))
        }
        for (service, document) in written {
            guard let violation = services[service]?.fit(document).violations.first else { continue }
            let misfit = Misfit(
                flow: journey.flow, version: journey.version, service: service, pointer: violation.pointer,
                detail: violation.detail)
            unfit[misfit, default: 0] += 1
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
