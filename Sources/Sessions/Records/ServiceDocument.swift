import ServiceLocator

/// A living service of one session, and its committed state.
package struct ServiceDocument: Sendable, LivingService {
    /// The service's index in the ``ServiceCatalog``. A store that outlives the process writes the name instead.
    package let service: UInt16
    /// Whether the store cannot read the bytes. Then ``bytes`` is empty, and the store keeps what it has until the
    /// document is replaced or removed.
    package let isDamaged: Bool
    /// The creation order within the session. Later instances are removed first.
    package let birth: UInt64
    /// The session's revision at the last write.
    package let revision: UInt64
    /// When the instance was created, in steady time.
    package let createdAt: Int64
    /// When it was last written, in steady time.
    package let updatedAt: Int64
    /// The serialised document, as it is sent, so that reading encodes nothing.
    package let bytes: [UInt8]

    package init(
        service: UInt16, birth: UInt64, revision: UInt64, createdAt: Int64, updatedAt: Int64, bytes: [UInt8],
        isDamaged: Bool = false
    ) {
        self.service = service
        self.isDamaged = isDamaged
        self.birth = birth
        self.revision = revision
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.bytes = bytes
    }

    /// An instance that was made and never written. It has the default, and lives in memory only.
    init(unwritten service: RegisteredService, birth: UInt64, createdAt: Int64) {
        self.init(
            service: service.index, birth: birth, revision: 0, createdAt: createdAt, updatedAt: createdAt,
            bytes: service.defaultBytes)
    }

    var isWritten: Bool { revision > 0 || isDamaged }
}

extension SessionRecord {
    /// The scope of its services.
    var scope: ServiceScope { id == SessionID.process ? .process : .session }

    /// What lives in the session now, and the stored services whose time is over.
    ///
    /// - Parameter unwritten: the instances that were never written, oldest first.
    func living(
        with unwritten: [ServiceDocument], _ catalog: ServiceCatalog, now: Int64
    ) -> (living: LivingServices<ServiceDocument>, expired: [UInt16]) {
        let scope = scope
        // Nobody knows when a damaged one was created. A document of the other scope is from before its service changed
        // the scope. One that is not declared may be again.
        func isOver(_ document: ServiceDocument) -> Bool {
            let service = catalog[document.service]
            return service.isDeclared
                && (service.scope != scope
                    || (!document.isDamaged && service.isOver(createdAt: document.createdAt, now: now)))
        }
        var living = LivingServices(services)
        let expired = living.removeAll(where: isOver).map(\.service)
        guard !unwritten.isEmpty else { return (living, expired) }
        let others = unwritten.compactMap { instance in
            // With the default of now, which a reload may have replaced.
            isOver(instance)
                ? nil
                : ServiceDocument(
                    unwritten: catalog[instance.service], birth: instance.birth, createdAt: instance.createdAt)
        }
        living = LivingServices((living.instances + others).sorted { $0.birth < $1.birth })
        return (living, expired)
    }
}
