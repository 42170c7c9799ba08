extension PendingState {
    /// Applies the changes to a state: readers may have created instances in it since the copy was made.
    ///
    /// - Parameter committed: nil when there was nothing to store.
    // Inlined, like the next: a call with a pending state that an object holds would copy all of it.
    @inline(__always)
    func apply(
        committed: SessionRecord?, to record: inout SessionRecord, _ unwritten: inout [UnwrittenInstance]
    ) {
        if let committed { record = committed }
        guard !unwritten.isEmpty || !self.unwritten.isEmpty else { return }
        unwritten.forgetWritten(in: record, catalog, now: now)
        for change in changes where change.kind == .removed {
            unwritten.removeAll { $0.service == change.service && $0.birth <= change.birth }
        }
        for instance in self.unwritten where !unwritten.contains(where: { $0.service == instance.service }) {
            unwritten.append(instance)
        }
    }

    /// Whether it only replaces states of services, as nearly every unit of work does, so that no instance comes or goes.
    @inline(__always)
    func onlyRewrites(_ record: SessionRecord, _ unwritten: [UnwrittenInstance]) -> Bool {
        unwritten.isEmpty && self.unwritten.isEmpty && documents.count == record.services.count
            && changes.allSatisfy { $0.kind == .written }
    }
}

extension [UnwrittenInstance] {
    /// Drops those that were written or whose lifetime is over.
    mutating func forgetWritten(in record: SessionRecord, _ catalog: ServiceCatalog, now: Int64) {
        guard !isEmpty else { return }
        removeAll { instance in
            let service = catalog.services[Int(instance.service)]
            if service.isOver(createdAt: instance.createdAt, now: now) { return true }
            // What was written before it and is over is not it.
            return record.document(of: instance.service).map { !service.isOver(createdAt: $0.createdAt, now: now) }
                ?? false
        }
        // An empty array that grew keeps its room, a million times.
        if isEmpty { self = [] }
    }
}
