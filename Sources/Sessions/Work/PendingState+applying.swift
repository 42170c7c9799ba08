extension PendingState {
    /// Applies the changes to a state. Readers may have created instances in it since the copy was made.
    ///
    /// - Parameter committed: `nil` when there was nothing to store.
    // Inlined, like the next: otherwise a call on an object's pending state copies all of it.
    @inline(__always)
    func apply(
        committed: SessionRecord?, to record: inout SessionRecord, _ unwritten: inout [ServiceDocument]
    ) {
        if let committed { record = committed }
        let new = self.unwritten
        guard !unwritten.isEmpty || !new.isEmpty else { return }
        unwritten.forgetWritten(in: record, catalog, now: now)
        for change in changes where change.kind == .removed {
            unwritten.removeAll { $0.service == change.service && $0.birth <= change.birth }
        }
        for instance in new where !unwritten.contains(where: { $0.service == instance.service }) {
            unwritten.append(instance)
        }
    }

    /// Whether it only replaces states of services, so that no instance is created or removed. Nearly every unit of
    /// work does only that.
    @inline(__always)
    func onlyRewrites(_ record: SessionRecord, _ unwritten: [ServiceDocument]) -> Bool {
        unwritten.isEmpty && living.instances.count == record.services.count
            && changes.allSatisfy { $0.kind == .written }
    }
}

extension [ServiceDocument] {
    /// Drops those that were written since, or have expired.
    mutating func forgetWritten(in record: SessionRecord, _ catalog: ServiceCatalog, now: Int64) {
        guard !isEmpty else { return }
        removeAll { instance in
            let service = catalog.services[Int(instance.service)]
            if service.isOver(createdAt: instance.createdAt, now: now) { return true }
            // An expired document belongs to an earlier instance.
            return record.document(of: instance.service).map { !service.isOver(createdAt: $0.createdAt, now: now) }
                ?? false
        }
        // An empty array that has grown keeps its memory, and there may be a million of them.
        if isEmpty { self = [] }
    }
}
