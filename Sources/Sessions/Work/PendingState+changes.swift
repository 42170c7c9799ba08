extension PendingState {
    /// What observers receive: the last change of each service, writes first in their order, then removals, newest
    /// first, and the changes of journeys last.
    var sessionChanges: [SessionChange] {
        var told: [SessionChange] = []
        var removed: [Change] = []
        for (position, change) in changes.enumerated() where change.kind != .created {
            let isLast = !changes[(position + 1)...].contains { $0.service == change.service && $0.kind != .created }
            guard isLast else { continue }
            let name = catalog.services[Int(change.service)].name
            switch change.kind {
            case .written: told.append(.serviceChanged(name: name, etag: ServiceETag(revision: revision)))
            case .cleared: told.append(.serviceCleared(name: name, etag: ServiceETag(revision: revision)))
            case .removed: removed.append(change)
            case .created: break
            }
        }
        return told
            + removed.sorted { $0.birth > $1.birth }
            .map { .serviceRemoved(name: catalog.services[Int($0.service)].name) }
            + journeyChanges
    }
}
