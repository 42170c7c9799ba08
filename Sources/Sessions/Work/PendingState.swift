/// The next state of a session in the making: a copy that becomes real when it is committed.
struct PendingState: Sendable {
    let base: SessionRecord
    let catalog: ServiceCatalog
    let now: Int64
    var token: TokenDigest { didSet { isRecordChanged = true } }
    var details: SessionDetails { didSet { isRecordChanged = true } }
    /// What lives, oldest first.
    private(set) var instances: [Instance] = []
    /// What was done, in order.
    private(set) var changes: [Change] = []
    /// Whether there is something for the store: making or removing an instance that was never written is not.
    private(set) var isRecordChanged = false
    /// Instances at the end of their lifetime leave with the next commit.
    private var expired: [UInt16] = []
    private var nextBirth: UInt64 = 0

    struct Instance: Sendable {
        let service: UInt16
        let birth: UInt64
        let createdAt: Int64
        var document: ServiceDocument?
    }

    struct Change: Sendable {
        enum Kind: Sendable { case created, written, cleared, removed }
        let service: UInt16
        let birth: UInt64
        let kind: Kind
    }

    init(base: SessionRecord, unwritten: [UnwrittenInstance], catalog: ServiceCatalog, now: Int64) {
        self.base = base
        self.catalog = catalog
        self.now = now
        token = base.token
        details = base.details
        instances.reserveCapacity(base.services.count + unwritten.count + 1)
        for document in base.services {
            nextBirth = max(nextBirth, document.birth + 1)
            if catalog.services[Int(document.service)].isOver(createdAt: document.createdAt, now: now) {
                expired.append(document.service)
            } else {
                instances.append(
                    Instance(
                        service: document.service, birth: document.birth, createdAt: document.createdAt,
                        document: document))
            }
        }
        guard !unwritten.isEmpty else { return }
        for instance in unwritten {
            nextBirth = max(nextBirth, instance.birth + 1)
            guard !catalog.services[Int(instance.service)].isOver(createdAt: instance.createdAt, now: now) else {
                continue
            }
            instances.append(
                Instance(
                    service: instance.service, birth: instance.birth, createdAt: instance.createdAt, document: nil))
        }
        instances.sort { $0.birth < $1.birth }
    }

    /// What the state will have as its revision.
    var revision: UInt64 { base.revision + 1 }

    func document(of service: RegisteredService) -> ServiceDocument? {
        instances.first { $0.service == service.index }?.document
    }

    func isLive(_ service: RegisteredService) -> Bool {
        instances.contains { $0.service == service.index }
    }

    func etag(of service: RegisteredService) -> ServiceETag {
        document(of: service).map { ServiceETag(revision: $0.revision) } ?? .unwritten
    }

    /// Makes the instance if there is none; writes nothing.
    mutating func create(_ service: RegisteredService) {
        _ = place(of: service)
    }

    /// A write raises the revision also when the content stays the same: who wrote learns an entity tag that nobody
    /// else was given.
    mutating func write(_ service: RegisteredService, _ bytes: [UInt8]) {
        write(service, bytes, as: .written)
    }

    /// The living instance back to its default, which is a write; nothing when none lives.
    mutating func clear(_ service: RegisteredService) {
        guard isLive(service) else { return }
        write(service, service.defaultBytes, as: .cleared)
    }

    /// Takes the instance out, if one lives.
    mutating func remove(_ service: RegisteredService) {
        guard let place = instances.firstIndex(where: { $0.service == service.index }) else { return }
        let instance = instances.remove(at: place)
        if base.document(of: service.index) != nil { isRecordChanged = true }
        changes.append(Change(service: service.index, birth: instance.birth, kind: .removed))
    }

    /// Removes what `isLeaving` says, newest first.
    mutating func removeAll(where isLeaving: (RegisteredService) -> Bool = { _ in true }) {
        for instance in instances.reversed() {
            let service = catalog.services[Int(instance.service)]
            if isLeaving(service) { remove(service) }
        }
    }

    private mutating func write(_ service: RegisteredService, _ bytes: [UInt8], as kind: Change.Kind) {
        let place = place(of: service)
        let instance = instances[place]
        instances[place].document = ServiceDocument(
            service: service.index, birth: instance.birth, revision: revision, createdAt: instance.createdAt,
            updatedAt: now, bytes: bytes)
        changes.append(Change(service: service.index, birth: instance.birth, kind: kind))
        isRecordChanged = true
    }

    private mutating func place(of service: RegisteredService) -> Int {
        if let place = instances.firstIndex(where: { $0.service == service.index }) { return place }
        instances.append(Instance(service: service.index, birth: nextBirth, createdAt: now, document: nil))
        changes.append(Change(service: service.index, birth: nextBirth, kind: .created))
        nextBirth += 1
        return instances.count - 1
    }

    /// The state, ready for the store.
    func commit() -> SessionCommit {
        var services: [ServiceDocument] = []
        services.reserveCapacity(instances.count)
        for instance in instances {
            if let document = instance.document { services.append(document) }
        }
        let record = SessionRecord(
            id: base.id, token: token, createdAt: base.createdAt, expiresAt: base.expiresAt, revision: revision,
            services: services, details: details)
        var changed = expired
        for change in changes where change.kind != .created && !changed.contains(change.service) {
            changed.append(change.service)
        }
        return SessionCommit(record: record, replacedRevision: base.revision, changedServices: changed)
    }
}

/// An instance that was asked for and never written: it lives in memory only.
struct UnwrittenInstance: Sendable {
    let service: UInt16
    let birth: UInt64
    let createdAt: Int64
}
