import JSONDocument
import Navigation

extension Session {
    /// Does one operation on one service without a locator, as most writes do.
    ///
    /// - Parameters:
    ///   - token: see ``transact(_:then:)``.
    ///   - once: the request, if its copies must not be executed again.
    ///   - done: see ``transact(_:then:)``. Fails with ``SessionError``.
    package func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller = .client, presenting token: TokenDigest? = nil,
        once: Once<ServiceOperation.Outcome>? = nil, then done: @escaping Completion<ServiceOperation.Outcome>
    ) {
        transact(
            presenting: token, once: once,
            { [self] pending in
                let output = try perform(operation, by: caller, on: &pending)
                var outcome = try outcome(of: operation, on: pending)
                outcome.output = output
                return outcome
            }, then: done)
    }

    /// What the service of an operation is like.
    func outcome(
        of operation: ServiceOperation, on pending: PendingState
    ) throws(SessionError) -> ServiceOperation.Outcome {
        var journeys = WrittenJourneys()
        return try outcome(of: operation, on: pending, &journeys)
    }

    func outcome(
        of operation: ServiceOperation, on pending: PendingState, _ journeys: inout WrittenJourneys
    ) throws(SessionError) -> ServiceOperation.Outcome {
        if let id = operation.journey {
            let work = try journeys.read(in: pending, environment)
            if let owner = try work.owner(of: operation.service, in: id) {
                return work.outcome(of: operation.service, ownedBy: owner, in: id)
            }
        }
        return pending.outcome(of: operation.service)
    }

    /// - Returns: the output of a command.
    @discardableResult
    private func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller, on pending: inout PendingState
    ) throws(SessionError) -> JSONDocument? {
        let limit = settings.maxDocumentSize
        var journeys = WrittenJourneys()
        try journeys.settle(operation.journey, in: &pending, environment)
        if case .call(let command, let input) = operation.action {
            return try call(command, input, of: operation, by: caller, on: &pending, &journeys)
        }
        if let owned = try owner(of: operation, on: pending, &journeys) {
            var tree: JSONDocument?
            try change(&tree, by: operation, owned, of: caller, &pending, &journeys)
            try write(tree, operation.service, owned, to: &pending)
            return nil
        }
        try create(operation, by: caller, on: &pending)
        if operation.service.isKeptOtherwise {
            // Checks the operation before journeys are given up for it.
            var trial = pending
            try trial.perform(operation, by: caller, limit: limit)
            if try giveUpJourneys(on: &pending) { return nil }
        }
        guard operation.service.name == UserService.name else {
            try pending.perform(operation, by: caller, limit: limit)
            return nil
        }
        try followUser(on: &pending) { (pending) throws(SessionError) in
            try pending.perform(operation, by: caller, limit: limit)
        }
        return nil
    }

    /// Whether the operation makes an instance of the session, and the service has a hook for that.
    private func isFirstUse(_ operation: ServiceOperation, on pending: PendingState) -> Bool {
        operation.service.hooks.create != nil && operation.action.isWrite && !pending.isLive(operation.service)
    }

    private func create(
        _ operation: ServiceOperation, by caller: ServiceCaller, on pending: inout PendingState
    ) throws(SessionError) {
        guard isFirstUse(operation, on: pending) else { return }
        // What the caller may not do makes none.
        try pending.check(operation, by: caller)
        try environment.create(operation.service, on: &pending)
    }

    /// A coordinator of a journey.
    struct Owner: Hashable {
        let journey: String
        let coordinator: Int
    }

    /// The journeys of a unit of work on services, read once and again after each change.
    struct WrittenJourneys {
        private var work: JourneyWork?
        /// Those to which was done what time and standing rules do.
        private var settled: Set<String> = []

        mutating func read(in pending: PendingState, _ environment: SessionEnvironment) throws(SessionError)
            -> JourneyWork
        {
            if let work { return work }
            let new = try JourneyWork(on: pending, environment)
            work = new
            return new
        }

        /// Does what time and standing rules do to a journey, once.
        mutating func settle(
            _ id: String?, in pending: inout PendingState, _ environment: SessionEnvironment
        ) throws(SessionError) {
            guard let id, settled.insert(id).inserted else { return }
            if !environment.createdForJourneys.isEmpty { try environment.createForJourneys(on: &pending) }
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

    /// The coordinator that owns what an operation is about; nil when that is the session's.
    func owner(
        of operation: ServiceOperation, on pending: PendingState, _ journeys: inout WrittenJourneys
    ) throws(SessionError) -> Owner? {
        guard let id = operation.journey else { return nil }
        return try journeys.read(in: pending, environment).owner(of: operation.service, in: id, forWrite: true).map {
            Owner(journey: id, coordinator: $0)
        }
    }

    /// - Parameter tree: see ``JourneyWork/change(_:by:ownedBy:in:of:steps:)``.
    private func change(
        _ tree: inout JSONDocument?, by operation: ServiceOperation, _ owner: Owner, of caller: ServiceCaller,
        _ pending: inout PendingState, _ journeys: inout WrittenJourneys
    ) throws(SessionError) {
        if !operation.action.isWrite { journeys.forget() }
        var work = try journeys.read(in: pending, environment)
        try work.change(
            &tree, by: operation, ownedBy: owner.coordinator, in: owner.journey, of: caller, steps: &pending.patchSteps)
        if !operation.action.isWrite {
            pending = work.pending
            journeys.forget()
        }
    }

    /// - Parameter tree: nil when there is nothing to write.
    private func write(
        _ tree: JSONDocument?, _ service: RegisteredService, _ owner: Owner, to pending: inout PendingState
    ) throws(SessionError) {
        guard let tree else { return }
        var work = try JourneyWork(on: pending, environment)
        try work.setOwned(service, of: owner.coordinator, in: owner.journey, to: tree)
        pending = work.pending
    }

    /// Does all operations, in their order, or none.
    ///
    /// All writes of one service change one tree. It is checked against the schema and written once, after the last of
    /// them, so the states in between need not be valid. A command sees what those before it have written, which has to
    /// be valid by then.
    ///
    /// - Parameter once: the request, if its copies must not be executed again.
    /// - Returns: an outcome for each operation: the service after all of them.
    /// - Throws: ``SessionError/inOperation(_:_:)`` when one of them cannot be done. For an invalid state the last
    ///   write of the service is named.
    nonisolated(nonsending) package func perform(
        _ operations: [ServiceOperation], by caller: ServiceCaller = .client,
        once: Once<[ServiceOperation.Outcome]>? = nil
    ) async throws -> [ServiceOperation.Outcome] {
        try await transact(once: once) { [self] pending in
            var trees: [WrittenPlace: WrittenTree] = [:]
            var outputs: [Int: JSONDocument] = [:]
            var journeys = WrittenJourneys()
            // Before any operation, because it may write services that operations change.
            for (index, operation) in operations.enumerated() {
                try Self.inOperation(index) { () throws(SessionError) in
                    try journeys.settle(operation.journey, in: &pending, environment)
                }
            }
            for (index, operation) in operations.enumerated() {
                let service = operation.service
                try Self.inOperation(index) { () throws(SessionError) in
                    if case .call(let command, let input) = operation.action {
                        try write(&trees, to: &pending)
                        journeys.forget()
                        outputs[index] = try call(
                            command, input, of: operation, by: caller, on: &pending, &journeys)
                        return
                    }
                    if let owned = try owner(of: operation, on: pending, &journeys) {
                        let place = WrittenPlace(service: service.index, owner: owned)
                        if !operation.action.isWrite {
                            try write(&trees, to: &pending) { $0.owner == owned && $0.service === service }
                        }
                        // Out of the dictionary, so that it is changed in place.
                        var tree = trees.removeValue(forKey: place)?.tree
                        try change(&tree, by: operation, owned, of: caller, &pending, &journeys)
                        trees[place] = tree.map {
                            WrittenTree(tree: $0, service: service, owner: owned, lastWrite: index)
                        }
                        return
                    }
                    if isFirstUse(operation, on: pending) {
                        try write(&trees, to: &pending)
                        try create(operation, by: caller, on: &pending)
                        journeys.forget()
                    }
                    // Services that clients only read can decide which other instances live, see `followUser`.
                    if operation.action.isWrite, !service.isReadOnly {
                        let place = WrittenPlace(service: service.index, owner: nil)
                        var tree = trees.removeValue(forKey: place)?.tree
                        try pending.change(&tree, by: operation, of: caller, limit: settings.maxDocumentSize)
                        trees[place] = tree.map {
                            WrittenTree(tree: $0, service: service, owner: nil, lastWrite: index)
                        }
                    } else {
                        let decidesForOthers = service.isReadOnly || service.isKeptOtherwise
                        try write(&trees, to: &pending) { decidesForOthers || $0.service === service }
                        try perform(operation, by: caller, on: &pending)
                        journeys.forget()
                    }
                }
            }
            try write(&trees, to: &pending)
            let done = pending
            journeys.forget()
            return try operations.enumerated().map { index, operation in
                var outcome = try outcome(of: operation, on: done, &journeys)
                outcome.output = outputs[index]
                return outcome
            }
        }
    }

    /// A service's state after several writes.
    private struct WrittenTree {
        let tree: JSONDocument
        let service: RegisteredService
        let owner: Owner?
        let lastWrite: Int
    }

    /// A service of the session, or of a coordinator.
    private struct WrittenPlace: Hashable {
        let service: UInt16
        let owner: Owner?
    }

    private func write(
        _ trees: inout [WrittenPlace: WrittenTree], to pending: inout PendingState,
        where isDue: (WrittenTree) -> Bool = { _ in true }
    ) throws(SessionError) {
        for last in trees.values.filter(isDue).sorted(by: { $0.lastWrite < $1.lastWrite }) {
            try Self.inOperation(last.lastWrite) { () throws(SessionError) in
                if let owner = last.owner { return try write(last.tree, last.service, owner, to: &pending) }
                pending.write(last.service, try last.service.bytes(of: last.tree, limit: settings.maxDocumentSize))
            }
        }
        trees = trees.filter { !isDue($0.value) }
    }

    private static func inOperation(
        _ index: Int, _ body: () throws(SessionError) -> Void
    ) throws(SessionError) {
        do throws(SessionError) {
            try body()
        } catch {
            if case .inOperation = error { throw error }
            throw .inOperation(index, error)
        }
    }

    private var settings: SessionSettings { environment.settings }

    /// Removes every instance, newest first. Read-only services that were written, such as the attached user and the
    /// journeys, stay unless an admin asks; then the journeys are given up first.
    package func removeAllServices(by caller: ServiceCaller = .client) async throws {
        try await transact { [self] pending in
            let keepsSteps = try caller == .admin && giveUpJourneys(on: &pending)
            try followUser(on: &pending) { pending in
                let before = pending
                pending.removeAll { service in
                    if keepsSteps, service.isKeptOtherwise { return false }
                    return caller == .admin || !service.isReadOnly || before.document(of: service) == nil
                }
            }
        }
    }

    /// Changes the labels by a merge patch: a string sets a label, null removes it.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with pointers that begin with `/labels`.
    package func updateLabels(_ patch: JSONDocument) async throws {
        try await transact { [self] pending in
            let labels = try pending.details.labels.merging(patch, environment.settings)
            if labels != pending.details.labels { pending.details.labels = labels }
        }
    }
}
