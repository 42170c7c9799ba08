import Synchronization

/// The documents of the process: one of each for all sessions, such as a menu or prices.
///
/// They are the services of a session of their own. So they are stored, written, watched and shared between servers
/// like those of any session. Nobody has a token of that session; it does not expire, counts nowhere and is in no list.
final class ProcessDocuments: Sendable {
    /// The session is always used "later" than anything else, so that it expires for no server and no store.
    static let never: Int64 = 1 << 50

    private enum Stage: Sendable {
        /// Not read yet: everything has its default.
        case new
        case open(Session)
        /// The store cannot read them.
        case failed(SessionError)
    }

    private let stage = Mutex(Stage.new)
    let news = ProcessNews()
    private let declared: Atomic<Bool>

    init(_ definitions: SessionDefinitions) { declared = Atomic(definitions.hasProcessDocuments) }

    /// Whether the definitions have any.
    var areDeclared: Bool { declared.load(ordering: .relaxed) }

    func take(_ definitions: SessionDefinitions) {
        declared.store(definitions.hasProcessDocuments, ordering: .relaxed)
    }

    /// The session of the documents; `nil` before it is open.
    ///
    /// - Throws: why the store cannot read them.
    var session: Session? {
        get throws(SessionError) {
            switch stage.withLock({ $0 }) {
            case .new: nil
            case .open(let session): session
            case .failed(let error): throw error
            }
        }
    }

    /// The documents at this moment.
    var now: ProcessState {
        guard areDeclared else { return ProcessState() }
        do throws(SessionError) {
            return ProcessState(record: try session?.state.withLock(\.record))
        } catch {
            return ProcessState(failure: error)
        }
    }

    /// Whether the store has the session.
    var isStored: Bool { stage.withLock { if case .open = $0 { true } else { false } } }

    /// Takes the session of the documents, unless there is one already.
    ///
    /// - Returns: the one that there is, and whether it is the first.
    func open(_ session: Session) -> (session: Session, isFirst: Bool) {
        stage.withLock { stage in
            guard case .open(let former) = stage else {
                stage = .open(session)
                return (session, true)
            }
            if !former.state.withLock(\.isEnded) { return (former, false) }
            stage = .open(session)
            return (session, false)
        }
    }

    /// Those that were read before stay.
    func fail(_ error: SessionError) {
        stage.withLock { stage in
            if case .open = stage { return }
            stage = .failed(error)
        }
    }

    /// The session refers to what this belongs to.
    func close() {
        let last = stage.withLock { stage in
            defer { stage = .new }
            return stage
        }
        withExtendedLifetime(last) {}
    }
}

/// Tells those who watch a session what has changed in the documents of the process, one change after the other.
actor ProcessNews {
    /// What they were told last.
    private var told: SessionRecord?

    /// - Parameter latest: the changes of a commit.
    func tell(_ environment: SessionEnvironment, _ latest: [SessionChange]) {
        guard let record = environment.processDocuments.now.record else { return }
        let services = environment.definitions.catalog.services.filter { $0.scope == .process }
        let changes = services.compactMap { service -> SessionChange? in
            if let change = record.change(of: service, since: told) { return change }
            // Written and removed since then: a client that was away may have been told of it in between.
            let removal = SessionChange.serviceRemoved(name: service.name)
            return latest.contains(removal) && record.document(of: service.index) == nil ? removal : nil
        }
        told = record
        if !changes.isEmpty { environment.watches.tellAll(changes) }
    }
}

extension SessionID {
    /// That of the session that has the documents of the process. The ids of others begin with a time.
    package static let process = SessionID(high: .max, low: .max)
}

/// The documents of the process at one moment. Later writes do not change it.
struct ProcessState: Sendable {
    /// `nil` where there is none: then everything has its default.
    private(set) var record: SessionRecord?
    /// Why they cannot be read.
    private(set) var failure: SessionError?

    init(record: SessionRecord? = nil, failure: SessionError? = nil) {
        self.record = record
        self.failure = failure
    }

    /// Grows with every write; 0 without any.
    var revision: UInt64 { record?.revision ?? 0 }

    /// - Returns: `nil` when it was never written.
    func document(of service: RegisteredService) throws(SessionError) -> ServiceDocument? {
        if let failure { throw failure }
        return record?.document(of: service.index)
    }

    /// What a client may not know that has been away: how each document is.
    func all(_ catalog: ServiceCatalog) -> [SessionChange] {
        guard let record else { return [] }
        return catalog.services.filter { $0.scope == .process }.map { service in
            record.change(of: service, since: nil) ?? .serviceRemoved(name: service.name)
        }
    }
}

extension SessionRecord {
    fileprivate func change(of service: RegisteredService, since former: SessionRecord?) -> SessionChange? {
        guard let document = document(of: service.index) else {
            return former?.document(of: service.index).map { _ in .serviceRemoved(name: service.name) }
        }
        let etag = ServiceETag(revision: document.revision)
        if former?.document(of: service.index)?.revision == document.revision { return nil }
        let isDefault = document.bytes == service.defaultBytes
        return isDefault
            ? .serviceCleared(name: service.name, etag: etag) : .serviceChanged(name: service.name, etag: etag)
    }
}
