extension PendingState {
    /// What watchers are told: the last change of each service, writes first in their order, then removals, newest
    /// first, and the changes of journeys last.
    func sessionChanges(_ environment: SessionEnvironment) -> [SessionChange] {
        var told: [SessionChange] = []
        var removed: [Change] = []
        for (position, change) in changes.enumerated() where change.kind != .created {
            let isLast = !changes[(position + 1)...].contains { $0.service == change.service && $0.kind != .created }
            guard isLast else { continue }
            let service = catalog.services[Int(change.service)]
            switch change.kind {
            case .written: told.append(.serviceChanged(name: service.name, etag: etag(of: service)))
            case .cleared: told.append(.serviceCleared(name: service.name, etag: etag(of: service)))
            case .removed: removed.append(change)
            case .created: break
            }
        }
        return told
            + removed.sorted { $0.birth > $1.birth }
            .map { .serviceRemoved(name: catalog.services[Int($0.service)].name) }
            + journeyChanges(environment)
    }

    /// How the journeys differ from before: one change of each at most, and the task that each waits for.
    private func journeyChanges(_ environment: SessionEnvironment) -> [SessionChange] {
        guard let coordinator = try? environment.coordinator,
            changes.contains(where: { $0.service == coordinator.index })
        else { return [] }
        let former = Self.journeys(base.document(of: coordinator.index)?.bytes, knownBy: memory)
        let current = Self.journeys(document(of: coordinator)?.bytes, knownBy: newMemory)
        var told: [SessionChange] = []
        for journey in former.journeys where current[journey.id] == nil {
            if let task = journey.task { told.append(.taskEnded(journey: journey.id, name: task.name)) }
            told.append(.journeyAbandoned(id: journey.id))
        }
        for entry in current.entries {
            let (journey, before) = (entry.journey, former[entry.journey.id]?.journey)
            let hasMoved = before?.step != journey.step || before?.status != journey.status
            switch journey.status {
            case _ where !hasMoved: break
            case .active: told.append(.journeyMoved(id: journey.id, step: journey.step))
            case .finished: told.append(.journeyFinished(id: journey.id, step: journey.step))
            case .expired: told.append(.journeyExpired(id: journey.id, step: journey.step))
            }
            guard before?.task?.number != journey.task?.number else { continue }
            if let task = before?.task { told.append(.taskEnded(journey: journey.id, name: task.name)) }
            if let task = journey.task { told.append(.taskStarted(journey: journey.id, name: task.name)) }
        }
        return told
    }

    private static func journeys(_ bytes: [UInt8]?, knownBy memory: JourneyMemory?) -> KeptJourneys {
        guard let bytes else { return KeptJourneys() }
        return memory?.journeys(keptAs: bytes) ?? (try? KeptJourneys(reading: bytes)) ?? KeptJourneys()
    }
}
