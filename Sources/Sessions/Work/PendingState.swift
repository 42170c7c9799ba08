import JSONDocument
import Navigation
import ServiceLocator

/// The next state of a session: a copy that becomes the session's state when it is committed.
struct PendingState: Sendable {
    let base: SessionRecord
    let definitions: SessionDefinitions
    let now: Int64
    /// When the session was used last.
    let lastUsedAt: Int64
    var token: TokenDigest { didSet { isRecordChanged = true } }
    /// What lives, written or not: the base's own array until something changes.
    private(set) var living: LivingServices<ServiceDocument>
    /// The changes so far, in order.
    private(set) var changes: [Change] = []
    /// Those of the record. A change of journeys changes them (``JourneyWork/keep()``).
    var times: SessionTimes
    /// The session's memory of its journeys before the unit of work, which may be of other definitions.
    let memory: JourneyMemory?
    /// The memory of journeys after the commit; `nil` when the unit of work did not touch it.
    var newMemory: JourneyMemory?
    /// The steps that are left for JSON Patches.
    var patchSteps = JSONDocument.patchSteps
    /// The work with lists that is left for commands of service files.
    var listWork = CommandDefinition.mostWork
    /// Where journeys went, for the metrics.
    var ways: [JourneyWay] = []
    /// Whether there is something to store. Creating or removing an instance that was never written is not.
    private(set) var isRecordChanged = false
    /// Expired instances, which the next commit removes.
    private var expired: [UInt16] = []
    private var nextBirth: UInt64 = 0
    /// What few units of work have, behind one reference: the whole is copied several times in a unit of work.
    private var box: ExtrasBox?

    private struct Extras: Sendable {
        var details: SessionDetails?
        var expiresAt: Int64?
        var replay: Replay?
        var taskChanges: [TaskChange] = []
        var notes: [ServiceNote] = []
        var isOfAnySize = false
    }

    private final class ExtrasBox: Sendable {
        let extras: Extras

        init(_ extras: Extras) { self.extras = extras }
    }

    private var extras: Extras {
        get { box?.extras ?? Extras() }
        set { box = ExtrasBox(newValue) }
    }

    /// Tasks that begin or end.
    var taskChanges: [TaskChange] {
        get { box?.extras.taskChanges ?? [] }
        set { extras.taskChanges = newValue }
    }

    /// What the log should say when it is committed.
    var notes: [ServiceNote] {
        get { box?.extras.notes ?? [] }
        set { extras.notes = newValue }
    }

    /// Whether it has what is kept whatever its size: the result of a task.
    var isOfAnySize: Bool {
        get { box?.extras.isOfAnySize ?? false }
        set { extras.isOfAnySize = newValue }
    }

    /// The response to the request, which the commit keeps.
    var replay: Replay? {
        get { box?.extras.replay }
        set {
            extras.replay = newValue
            isRecordChanged = true
        }
    }

    struct Change: Sendable {
        enum Kind: Sendable { case created, written, cleared, removed }
        let service: UInt16
        let birth: UInt64
        let kind: Kind
    }

    var catalog: ServiceCatalog { definitions.catalog }

    /// ``memory``, if it holds.
    var knownMemory: JourneyMemory? { memory?.definitions == definitions.number ? memory : nil }

    /// The revision of the next write.
    var revision: UInt64 { base.highestRevision + 1 }

    var details: SessionDetails {
        get { box?.extras.details ?? base.details }
        set {
            extras.details = newValue
            isRecordChanged = true
        }
    }

    /// See ``SessionDetails/idleTimeout``.
    var idleTimeout: Int64? { box?.extras.details.map(\.idleTimeout) ?? base.idleTimeout }

    /// The absolute expiry.
    var expiresAt: Int64 {
        get { box?.extras.expiresAt ?? base.expiresAt }
        set {
            extras.expiresAt = newValue
            isRecordChanged = true
        }
    }

    /// Whether a user is attached to the session.
    var hasUser: Bool { (box?.extras.details.map(\.userID) ?? base.userID) != nil }

    /// The written documents, oldest first.
    var documents: [ServiceDocument] {
        living.instances.allSatisfy(\.isWritten) ? living.instances : living.instances.filter(\.isWritten)
    }

    /// The living instances that were never written, oldest first.
    var unwritten: [ServiceDocument] { living.instances.filter { !$0.isWritten } }

    /// The document of a service; `nil` when it was never written.
    func document(of service: RegisteredService) -> ServiceDocument? {
        living[service.index].flatMap { $0.isWritten ? $0 : nil }
    }

    /// Whether one of the services was written, cleared or removed.
    func hasWritten(_ services: [RegisteredService]) -> Bool {
        changes.contains { change in
            change.kind != .created && services.contains { $0.index == change.service }
        }
    }

    func isLive(_ service: RegisteredService) -> Bool { living.isLive(service.index) }

    func etag(of service: RegisteredService) -> ServiceETag {
        document(of: service).map { ServiceETag(revision: $0.revision) } ?? .unwritten
    }

    /// The first use of a service makes its instance. Writes nothing.
    mutating func create(_ service: RegisteredService) {
        guard !isLive(service) else { return }
        living.add(ServiceDocument(unwritten: service, birth: nextBirth, createdAt: now))
        changes.append(Change(service: service.index, birth: nextBirth, kind: .created))
        nextBirth += 1
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
        if let removed = living.remove(service.index) { note(removed) }
    }

    /// Removes the services for which `isLeaving` returns true, newest first.
    ///
    /// - Parameter undeclared: whether what is not declared is removed, too.
    mutating func removeAll(
        undeclared: Bool = false, where isLeaving: (RegisteredService) -> Bool = { _ in true }
    ) {
        let removed = living.removeAll { [catalog] instance in
            let service = catalog[instance.service]
            return service.isDeclared ? isLeaving(service) : undeclared
        }
        for instance in removed { note(instance) }
    }

    private mutating func note(_ removed: ServiceDocument) {
        if base.document(of: removed.service) != nil { isRecordChanged = true }
        changes.append(Change(service: removed.service, birth: removed.birth, kind: .removed))
    }

    /// Takes the documents that another process has committed, to tell what it has changed.
    mutating func take(_ documents: [ServiceDocument]) {
        for document in documents where base.document(of: document.service)?.revision != document.revision {
            let isDefault = document.bytes == catalog[document.service].defaultBytes
            changes.append(
                Change(service: document.service, birth: document.birth, kind: isDefault ? .cleared : .written))
        }
        for former in base.services where !documents.contains(where: { $0.service == former.service }) {
            changes.append(Change(service: former.service, birth: former.birth, kind: .removed))
        }
        living = LivingServices(documents)
    }

    private mutating func write(_ service: RegisteredService, _ bytes: [UInt8], as kind: Change.Kind) {
        create(service)
        var birth: UInt64 = 0
        living.change(service.index) { [revision, now] document in
            birth = document.birth
            document = ServiceDocument(
                service: service.index, birth: birth, revision: revision, createdAt: document.createdAt,
                updatedAt: now, bytes: bytes)
        }
        changes.append(Change(service: service.index, birth: birth, kind: kind))
        isRecordChanged = true
    }

    /// Checks that the session does not become too large. One that already is may still change, but not grow.
    func checkSize(limit: Int) throws(SessionError) {
        let bytes = documents.reduce(0) { $0 + $1.bytes.count }
        guard bytes <= limit || bytes <= base.size || isOfAnySize else { throw .sessionTooLarge(limit: limit) }
    }

    /// The state, ready for the store.
    func commit() -> SessionCommit {
        let (replays, changedDetails) = (replay.map { base.replays.adding($0, now: now) }, box?.extras.details)
        let record = SessionRecord(
            after: base, token: token, services: documents, times: times, expiresAt: expiresAt,
            changedDetails: changedDetails, changedReplays: replays?.entries)
        var changed = expired
        for change in changes where change.kind != .created && !changed.contains(change.service) {
            changed.append(change.service)
        }
        var growth = record.size - base.size + record.replayBytes - base.replayBytes
        if let changedDetails { growth += changedDetails.writtenBytes - base.details.writtenBytes }
        return SessionCommit(
            record: record, replacedRevision: base.revision, changedServices: changed,
            changesServicesOnly: changedDetails == nil && token == base.token && expiresAt == base.expiresAt,
            changesTimes: times != base.times, tasks: taskChanges, replays: replays?.change, growth: growth)
    }
}

extension PendingState {
    // Uses the memberwise initializer: a large value that is made member by member is copied once more.
    /// - Parameter unwritten: the instances that live and were never written, oldest first.
    init(
        base: SessionRecord, unwritten: [ServiceDocument], definitions: SessionDefinitions, now: Int64,
        lastUsedAt: Int64, memory: JourneyMemory? = nil
    ) {
        var nextBirth: UInt64 = 0
        for document in base.services { nextBirth = max(nextBirth, document.birth + 1) }
        for instance in unwritten { nextBirth = max(nextBirth, instance.birth + 1) }
        let (living, expired) = base.living(with: unwritten, definitions.catalog, now: now)
        self.init(
            base: base, definitions: definitions, now: now, lastUsedAt: lastUsedAt, token: base.token, living: living,
            times: base.times, memory: memory, expired: expired, nextBirth: nextBirth)
    }

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
            let service = catalog[instance.service]
            if service.isOver(createdAt: instance.createdAt, now: now) { return true }
            // An expired document belongs to an earlier instance.
            return record.document(of: instance.service).map { !service.isOver(createdAt: $0.createdAt, now: now) }
                ?? false
        }
        // An empty array that has grown keeps its memory, and there may be a million of them.
        if isEmpty { self = [] }
    }
}
