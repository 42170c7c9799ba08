import JSONDocument

/// The next state of a session: a copy that becomes the session's state when it is committed.
struct PendingState: Sendable {
    let base: SessionRecord
    let catalog: ServiceCatalog
    let now: Int64
    var token: TokenDigest { didSet { isRecordChanged = true } }
    /// The written instances that live, oldest first: the base's own array until something is written.
    private(set) var documents: [ServiceDocument]
    /// The living instances that were never written, oldest first.
    private(set) var unwritten: [UnwrittenInstance]
    /// The changes so far, in order.
    private(set) var changes: [Change] = []
    /// Tasks that begin or end.
    var taskChanges: [TaskChange] = []
    /// The session's memory of its journeys before the unit of work.
    let memory: JourneyMemory?
    /// The memory of journeys after the commit; `nil` when the unit of work did not touch it.
    var newMemory: JourneyMemory?
    /// The response to the request, which the commit keeps.
    var replay: Replay? { didSet { isRecordChanged = true } }
    /// The steps that are left for JSON Patches.
    var patchSteps = JSONDocument.patchSteps
    /// How many journeys began, less those that ended.
    var journeysBegun = 0
    /// Whether there is something to store. Creating or removing an instance that was never written is not.
    private(set) var isRecordChanged = false
    /// Expired instances, which the next commit removes.
    private var expired: [UInt16] = []
    /// `nil` while they are the base's.
    private var changedDetails: SessionDetails?
    private var nextBirth: UInt64 = 0

    /// A living instance, written or not.
    struct Instance: Sendable {
        let service: UInt16
        let birth: UInt64
        let createdAt: Int64
        let document: ServiceDocument?
    }

    struct Change: Sendable {
        enum Kind: Sendable { case created, written, cleared, removed }
        let service: UInt16
        let birth: UInt64
        let kind: Kind
    }

    init(
        base: SessionRecord, unwritten: [UnwrittenInstance], catalog: ServiceCatalog, now: Int64,
        memory: JourneyMemory? = nil
    ) {
        self.memory = memory
        self.base = base
        self.catalog = catalog
        self.now = now
        token = base.token
        documents = base.services
        self.unwritten = unwritten
        // Nobody knows when a damaged one was created.
        func isOver(_ document: ServiceDocument) -> Bool {
            !document.isDamaged
                && catalog.services[Int(document.service)].isOver(createdAt: document.createdAt, now: now)
        }
        for document in base.services {
            nextBirth = max(nextBirth, document.birth + 1)
            if isOver(document) { expired.append(document.service) }
        }
        if !expired.isEmpty { documents.removeAll(where: isOver) }
        guard !unwritten.isEmpty else { return }
        for instance in unwritten { nextBirth = max(nextBirth, instance.birth + 1) }
        self.unwritten.removeAll { catalog.services[Int($0.service)].isOver(createdAt: $0.createdAt, now: now) }
        self.unwritten.sort { $0.birth < $1.birth }
    }

    /// The revision of the next write.
    var revision: UInt64 { base.highestRevision + 1 }

    var details: SessionDetails {
        get { changedDetails ?? base.details }
        set {
            changedDetails = newValue
            isRecordChanged = true
        }
    }

    /// Whether a user is attached to the session.
    var hasUser: Bool { (changedDetails.map(\.userID) ?? base.userID) != nil }

    /// Everything that lives, oldest first.
    var instances: [Instance] {
        let written = documents.map {
            Instance(service: $0.service, birth: $0.birth, createdAt: $0.createdAt, document: $0)
        }
        let others = unwritten.map {
            Instance(service: $0.service, birth: $0.birth, createdAt: $0.createdAt, document: nil)
        }
        return (written + others).sorted { $0.birth < $1.birth }
    }

    func document(of service: RegisteredService) -> ServiceDocument? {
        for document in documents where document.service == service.index { return document }
        return nil
    }

    func isLive(_ service: RegisteredService) -> Bool {
        documents.contains { $0.service == service.index } || unwritten.contains { $0.service == service.index }
    }

    func etag(of service: RegisteredService) -> ServiceETag {
        document(of: service).map { ServiceETag(revision: $0.revision) } ?? .unwritten
    }

    /// Creates the instance if there is none. Writes nothing.
    mutating func create(_ service: RegisteredService) {
        guard !isLive(service) else { return }
        unwritten.append(bear(service))
    }

    /// A write raises the revision even when the content stays the same, so that each writer gets an entity tag of its
    /// own.
    mutating func write(_ service: RegisteredService, _ bytes: [UInt8]) {
        write(service, bytes, as: .written)
    }

    /// Resets the living instance to its default, which is a write. Does nothing when none lives.
    mutating func clear(_ service: RegisteredService) {
        guard isLive(service) else { return }
        write(service, service.defaultBytes, as: .cleared)
    }

    /// Removes the instance, if one lives.
    mutating func remove(_ service: RegisteredService) {
        let birth: UInt64
        if let place = documents.firstIndex(where: { $0.service == service.index }) {
            birth = documents.remove(at: place).birth
        } else if let place = unwritten.firstIndex(where: { $0.service == service.index }) {
            birth = unwritten.remove(at: place).birth
        } else {
            return
        }
        if base.document(of: service.index) != nil { isRecordChanged = true }
        changes.append(Change(service: service.index, birth: birth, kind: .removed))
    }

    /// Removes the services for which `isLeaving` returns true, newest first.
    mutating func removeAll(where isLeaving: (RegisteredService) -> Bool = { _ in true }) {
        for instance in instances.reversed() {
            let service = catalog.services[Int(instance.service)]
            if isLeaving(service) { remove(service) }
        }
    }

    /// Takes the documents that another process has committed, to tell what it has changed.
    mutating func take(_ documents: [ServiceDocument]) {
        for document in documents where base.document(of: document.service)?.revision != document.revision {
            let isDefault = document.bytes == catalog.services[Int(document.service)].defaultBytes
            changes.append(
                Change(service: document.service, birth: document.birth, kind: isDefault ? .cleared : .written))
        }
        for former in base.services where !documents.contains(where: { $0.service == former.service }) {
            changes.append(Change(service: former.service, birth: former.birth, kind: .removed))
        }
        self.documents = documents
    }

    private mutating func write(_ service: RegisteredService, _ bytes: [UInt8], as kind: Change.Kind) {
        let birth: UInt64
        if let place = documents.firstIndex(where: { $0.service == service.index }) {
            let former = documents[place]
            birth = former.birth
            documents[place] = ServiceDocument(
                service: service.index, birth: birth, revision: revision, createdAt: former.createdAt, updatedAt: now,
                bytes: bytes)
        } else {
            let instance = takeUnwritten(service) ?? bear(service)
            birth = instance.birth
            // The exact capacity: the record keeps the array, and an array that grows by itself takes more memory.
            documents.reserveCapacity(documents.count + 1)
            documents.insert(
                ServiceDocument(
                    service: service.index, birth: birth, revision: revision, createdAt: instance.createdAt,
                    updatedAt: now, bytes: bytes),
                at: documents.firstIndex { $0.birth > birth } ?? documents.endIndex)
        }
        changes.append(Change(service: service.index, birth: birth, kind: kind))
        isRecordChanged = true
    }

    private mutating func takeUnwritten(_ service: RegisteredService) -> UnwrittenInstance? {
        unwritten.firstIndex { $0.service == service.index }.map { unwritten.remove(at: $0) }
    }

    private mutating func bear(_ service: RegisteredService) -> UnwrittenInstance {
        defer { nextBirth += 1 }
        changes.append(Change(service: service.index, birth: nextBirth, kind: .created))
        return UnwrittenInstance(service: service.index, birth: nextBirth, createdAt: now)
    }

    /// Checks that the session does not become too large. One that already is may still change, but not grow.
    func checkSize(limit: Int) throws(SessionError) {
        let bytes = documents.reduce(0) { $0 + $1.bytes.count }
        guard bytes <= limit || bytes <= base.size else { throw .sessionTooLarge(limit: limit) }
    }

    /// The state, ready for the store.
    func commit() -> SessionCommit {
        let replays = replay.map { base.replays.adding($0, now: now) }
        let record = SessionRecord(
            after: base, token: token, services: documents, changedDetails: changedDetails,
            changedReplays: replays?.entries)
        var changed = expired
        for change in changes where change.kind != .created && !changed.contains(change.service) {
            changed.append(change.service)
        }
        var commit = SessionCommit(
            record: record, replacedRevision: base.revision, changedServices: changed,
            changesServicesOnly: changedDetails == nil && token == base.token)
        if !taskChanges.isEmpty { commit.tasks = taskChanges }
        commit.replays = replays?.change
        commit.growth = record.size - base.size + record.replayBytes - base.replayBytes
        if let changedDetails { commit.growth += changedDetails.writtenBytes - base.details.writtenBytes }
        return commit
    }
}

/// An instance that was read and never written. It lives in memory only.
struct UnwrittenInstance: Sendable {
    let service: UInt16
    let birth: UInt64
    let createdAt: Int64
}
