import JSONDocument
import ServiceLocator

extension Session {
    /// A unit of work on typed services: they are resolved from the locator and changed as plain objects.
    ///
    /// ```swift
    /// try await session.update { locator in
    ///     try locator.resolve(ProfileService.key).name = "Ada"
    /// }
    /// ```
    ///
    /// When `body` returns, everything that changed is checked against its schema and committed as one. When it throws,
    /// or the commit fails, nothing changes, in memory or in the store. It may run more than once, so it must change
    /// nothing but services. The locator and its instances have no effect afterwards.
    ///
    /// - Parameter conditions: are checked each time before `body` runs.
    /// - Throws: ``SessionError``, and what `body` throws.
    nonisolated(nonsending) package func update<Result: Sendable>(
        if conditions: [(service: RegisteredService, condition: WriteCondition)] = [],
        _ body: @escaping @Sendable (ServiceLocator) throws -> Result
    ) async throws -> Result {
        try await transact { [self] pending in
            for (service, condition) in conditions {
                let current = pending.etag(of: service)
                guard condition.holds(for: current) else {
                    throw SessionError.preconditionFailed(service: service.name, current: current)
                }
            }
            let work = UnitOfWork(start: pending, catalog: environment.catalog)
            let locator = try work.locator(parent: environment.parent)
            // A locator that is released removes its instances, so it has to stay until the end.
            return try withExtendedLifetime(locator) {
                let result = try body(locator)
                try work.finish(into: &pending, limit: environment.settings.maxDocumentSize)
                return result
            }
        }
    }

    /// Does one operation on one service without a locator, as most writes do.
    ///
    /// - Parameter done: see ``transact(_:then:)``. Fails with ``SessionError``.
    package func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller = .client,
        then done: @escaping Completion<ServiceOperation.Outcome>
    ) {
        transact(
            { [self] pending in
                try perform(operation, by: caller, on: &pending)
                return pending.outcome(of: operation.service)
            }, then: done)
    }

    private func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller, on pending: inout PendingState
    ) throws(SessionError) {
        let limit = settings.maxDocumentSize
        if operation.service.isKeptOtherwise {
            // Checks the operation before journeys are given up for it.
            var trial = pending
            try trial.perform(operation, by: caller, limit: limit)
            if try giveUpJourneys(on: &pending) { return }
        }
        try pending.perform(operation, by: caller, limit: limit)
        try pending.followUser(operation.service, environment.settings)
    }

    /// Does all operations, in their order, or none.
    ///
    /// All writes of one service change one tree. It is checked against the schema and written once, after the last of
    /// them, so the states in between need not be valid.
    ///
    /// - Returns: an outcome for each operation: the service after all of them.
    /// - Throws: ``SessionError/inOperation(_:_:)`` when one of them cannot be done. For an invalid state the last
    ///   write of the service is named.
    nonisolated(nonsending) package func perform(
        _ operations: [ServiceOperation], by caller: ServiceCaller = .client
    ) async throws -> [ServiceOperation.Outcome] {
        try await transact { [self] pending in
            var trees: [UInt16: WrittenTree] = [:]
            for (index, operation) in operations.enumerated() {
                let service = operation.service
                try Self.inOperation(index) { () throws(SessionError) in
                    // Services that clients only read can decide which other instances live, see `followUser`.
                    if operation.action.isWrite, !service.isReadOnly {
                        let tree = try pending.tree(
                            after: operation, on: trees[service.index]?.tree, by: caller,
                            limit: settings.maxDocumentSize)
                        trees[service.index] = WrittenTree(tree: tree, service: service, lastWrite: index)
                    } else {
                        let decidesForOthers = service.isReadOnly || service.isKeptOtherwise
                        try write(&trees, of: decidesForOthers ? nil : service, to: &pending)
                        try perform(operation, by: caller, on: &pending)
                    }
                }
            }
            try write(&trees, of: nil, to: &pending)
            return operations.map { pending.outcome(of: $0.service) }
        }
    }

    /// A service's state after several writes.
    private struct WrittenTree {
        let tree: JSONDocument
        let service: RegisteredService
        let lastWrite: Int
    }

    /// - Parameter service: nil for all.
    private func write(
        _ trees: inout [UInt16: WrittenTree], of service: RegisteredService?, to pending: inout PendingState
    ) throws(SessionError) {
        let written = service.map { trees.removeValue(forKey: $0.index).map { [$0] } ?? [] } ?? Array(trees.values)
        for last in written.sorted(by: { $0.lastWrite < $1.lastWrite }) {
            try Self.inOperation(last.lastWrite) { () throws(SessionError) in
                pending.write(last.service, try last.service.bytes(of: last.tree, limit: settings.maxDocumentSize))
            }
        }
        if service == nil { trees = [:] }
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
            let before = pending
            pending.removeAll { service in
                if keepsSteps, service.isKeptOtherwise { return false }
                return caller == .admin || !service.isReadOnly || before.document(of: service) == nil
            }
            for service in pending.catalog.services { try pending.followUser(service, environment.settings) }
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
