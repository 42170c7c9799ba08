import JSONDocument
import Navigation

/// Operations on services within one unit of work.
///
/// All writes of one service change one tree. It is checked against the schema and written once, after the last of
/// them, so the states in between need not be valid. Whatever may look at the service before is preceded by that write.
struct Transaction {
    private let session: Session
    private let caller: ServiceCaller
    /// Whether there is one operation: then a write is done at once, by the quickest way.
    private let isSingle: Bool
    var journeys = WrittenJourneys()
    /// States that are still to be written, and the operation that wrote last, in the order of these.
    private var trees: [(place: Place, document: JSONDocument, lastWrite: Int)] = []

    /// A service of the session, or of a coordinator.
    struct Place: Equatable {
        let service: UInt16
        let owner: ServiceOwner?
    }

    init(in session: Session, by caller: ServiceCaller, isSingle: Bool = false) {
        self.session = session
        self.caller = caller
        self.isSingle = isSingle
    }

    private var environment: SessionEnvironment { session.environment }
    private var limit: Int { environment.settings.maxDocumentSize }

    /// Does an operation, or leaves its write for later.
    ///
    /// - Parameter index: of the operation.
    /// - Returns: the output of a command.
    mutating func run(
        _ operation: ServiceOperation, at index: Int = 0, on pending: inout PendingState
    ) throws(SessionError) -> JSONDocument? {
        let service = operation.service
        if case .call(let command, let input) = operation.action {
            try flush(to: &pending)
            return try session.call(command, input, of: operation, by: caller, on: &pending, &journeys)
        }
        if let owner = try journeys.owner(of: operation, in: pending, environment) {
            let place = Place(service: service.index, owner: owner)
            if !operation.action.isWrite { try flush(to: &pending) { $0 == place } }
            var document = take(place)
            try change(&document, by: operation, owner, on: &pending)
            guard let document else { return nil }
            if isSingle {
                try write(document, service, owner, to: &pending)
            } else {
                trees.append((place, document, index))
            }
            return nil
        }
        if isFirstUse(operation, on: pending) {
            try flush(to: &pending)
            // What the caller may not do makes none.
            try pending.check(operation, by: caller)
            try environment.create(service, on: &pending)
            journeys.forget()
        }
        // Services that clients only read can decide which other instances live, see `followUser`.
        if operation.action.isWrite, !service.isReadOnly, !isSingle {
            let place = Place(service: service.index, owner: nil)
            var document = take(place)
            try pending.change(&document, by: operation, of: caller, limit: limit)
            if let document { trees.append((place, document, index)) }
            return nil
        }
        let decidesForOthers = service.isReadOnly || service.isKeptOtherwise
        try flush(to: &pending) { decidesForOthers || $0.service == service.index }
        try perform(operation, on: &pending)
        journeys.forget()
        return nil
    }

    /// Writes what is left of the operations so far.
    mutating func flush(
        to pending: inout PendingState, where isDue: (Place) -> Bool = { _ in true }
    ) throws(SessionError) {
        if trees.isEmpty { return }
        for tree in trees where isDue(tree.place) {
            let service = pending.catalog[tree.place.service]
            try Self.inOperation(tree.lastWrite) { () throws(SessionError) in
                if let owner = tree.place.owner { return try write(tree.document, service, owner, to: &pending) }
                pending.write(service, try service.bytes(of: tree.document, limit: limit))
            }
        }
        trees.removeAll { isDue($0.place) }
        journeys.forget()
    }

    /// Out of the list, so that it is changed in place.
    private mutating func take(_ place: Place) -> JSONDocument? {
        trees.firstIndex { $0.place == place }.map { trees.remove(at: $0).document }
    }

    /// What the service of an operation is like.
    mutating func outcome(
        of operation: ServiceOperation, on pending: PendingState
    ) throws(SessionError) -> ServiceOperation.Outcome {
        if let id = operation.journey {
            let work = try journeys.read(in: pending, environment)
            if let owner = try work.owner(of: operation.service, in: id) {
                return work.outcome(of: operation.service, ownedBy: owner, in: id)
            }
        }
        return pending.outcome(of: operation.service)
    }

    /// Names the operation that failed.
    static func inOperation(_ index: Int, _ body: () throws(SessionError) -> Void) throws(SessionError) {
        do throws(SessionError) {
            try body()
        } catch {
            if case .inOperation = error { throw error }
            throw .inOperation(index, error)
        }
    }

    /// Whether the operation makes an instance of the session, and the service has a hook for that.
    private func isFirstUse(_ operation: ServiceOperation, on pending: PendingState) -> Bool {
        operation.service.hooks.create != nil && operation.action.isWrite && !pending.isLive(operation.service)
    }

    private func perform(_ operation: ServiceOperation, on pending: inout PendingState) throws(SessionError) {
        if operation.service.isKeptOtherwise {
            // Checks the operation before journeys are given up for it.
            var trial = pending
            try trial.perform(operation, by: caller, limit: limit)
            if try session.giveUpJourneys(on: &pending) { return }
        }
        guard operation.service.name == UserService.name else {
            return try pending.perform(operation, by: caller, limit: limit)
        }
        try session.followUser(on: &pending) { (pending) throws(SessionError) in
            try pending.perform(operation, by: caller, limit: limit)
        }
    }

    /// - Parameter document: see ``JourneyWork/change(_:by:ownedBy:in:of:steps:)``.
    private mutating func change(
        _ document: inout JSONDocument?, by operation: ServiceOperation, _ owner: ServiceOwner,
        on pending: inout PendingState
    ) throws(SessionError) {
        if !operation.action.isWrite { journeys.forget() }
        var work = try journeys.read(in: pending, environment)
        try work.change(
            &document, by: operation, ownedBy: owner.coordinator, in: owner.journey, of: caller,
            steps: &pending.patchSteps)
        if !operation.action.isWrite {
            pending = work.pending
            journeys.forget()
        }
    }

    private func write(
        _ document: JSONDocument, _ service: RegisteredService, _ owner: ServiceOwner, to pending: inout PendingState
    ) throws(SessionError) {
        var work = try JourneyWork(on: pending, environment)
        try work.setOwned(service, of: owner.coordinator, in: owner.journey, to: document)
        pending = work.pending
    }
}

/// A coordinator of a journey that owns a service.
struct ServiceOwner: Equatable {
    let journey: String
    let coordinator: Int
}

/// The journeys of a unit of work on services, read once and again after each change.
struct WrittenJourneys {
    private var work: JourneyWork?
    /// Those to which was done what time and standing rules do.
    private var settled: Set<String> = []

    mutating func read(in pending: PendingState, _ environment: SessionEnvironment) throws(SessionError) -> JourneyWork
    {
        if let work { return work }
        let new = try JourneyWork(on: pending, environment)
        work = new
        return new
    }

    /// The coordinator that owns what an operation is about; nil when that is the session's.
    mutating func owner(
        of operation: ServiceOperation, in pending: PendingState, _ environment: SessionEnvironment
    ) throws(SessionError) -> ServiceOwner? {
        guard let id = operation.journey else { return nil }
        return try read(in: pending, environment).owner(of: operation.service, in: id, forWrite: true).map {
            ServiceOwner(journey: id, coordinator: $0)
        }
    }

    /// Does what time and standing rules do to a journey, once.
    mutating func settle(
        _ id: String?, in pending: inout PendingState, _ environment: SessionEnvironment
    ) throws(SessionError) {
        guard let id, settled.insert(id).inserted else { return }
        if !pending.definitions.createdForJourneys.isEmpty { try environment.createForJourneys(on: &pending) }
        var work = try JourneyWork(on: pending, environment)
        // A journey that cannot go on keeps what it has.
        do {
            try work.settle(id, begins: true)
            if let entry = work.kept[id] { try work.advance(entry) }
        } catch {
            return forget()
        }
        do {
            if let entry = work.kept[id] { try work.createOwned(of: entry) }
        } catch is JourneyRefusal {
            return forget()
        } catch {
            throw SessionError(thrown: error, by: work.coordinator.name)
        }
        if work.pending.isRecordChanged { pending = work.pending }
        self.work = work
    }

    /// The unit of work has changed a journey.
    mutating func forget() { work = nil }
}
