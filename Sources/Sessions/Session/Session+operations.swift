import JSONDocument

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
                do {
                    if let renewed = try operation.renewed(in: pending) {
                        return try run(renewed, by: caller, on: &pending)
                    }
                    return try run(operation, by: caller, on: &pending)
                } catch {
                    throw caller.told(error, of: pending.catalog)
                }
            }, then: done)
    }

    private func run(
        _ operation: ServiceOperation, by caller: ServiceCaller, on pending: inout PendingState
    ) throws -> ServiceOperation.Outcome {
        var transaction = Transaction(in: self, by: caller, isSingle: true)
        try transaction.journeys.settle(operation.journey, in: &pending, environment)
        let output = try transaction.run(operation, on: &pending)
        transaction.journeys.forget()
        var outcome = try transaction.outcome(of: operation, on: pending)
        outcome.output = output
        return outcome
    }

    /// Does all operations, in their order, or none. A command sees what those before it have written, which has to be
    /// valid by then.
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
            do {
                return try run(operations, by: caller, on: &pending)
            } catch {
                throw caller.told(error, of: pending.catalog)
            }
        }
    }

    private func run(
        _ operations: [ServiceOperation], by caller: ServiceCaller, on pending: inout PendingState
    ) throws -> [ServiceOperation.Outcome] {
        var transaction = Transaction(in: self, by: caller)
        let operations = try operations.enumerated().map { index, operation in
            var renewed = operation
            try Transaction.inOperation(index) { () throws(SessionError) in
                renewed = try operation.renewed(in: pending) ?? operation
            }
            return renewed
        }
        // Before any operation, because it may write services that operations change.
        for (index, operation) in operations.enumerated() {
            try Transaction.inOperation(index) { () throws(SessionError) in
                try transaction.journeys.settle(operation.journey, in: &pending, environment)
            }
        }
        var outputs: [JSONDocument?] = []
        for (index, operation) in operations.enumerated() {
            try Transaction.inOperation(index) { () throws(SessionError) in
                outputs.append(try transaction.run(operation, at: index, on: &pending))
            }
        }
        try transaction.flush(to: &pending)
        transaction.journeys.forget()
        let done = pending
        return try zip(operations, outputs).map { operation, output in
            var outcome = try transaction.outcome(of: operation, on: done)
            outcome.output = output
            return outcome
        }
    }

    /// Removes every instance, newest first. Read-only services that were written, such as the attached user and the
    /// journeys, stay unless an admin asks; then the journeys are given up first.
    ///
    /// - Parameter once: the request, if its copies must not be executed again.
    package func removeAllServices(by caller: ServiceCaller = .client, once: Once<Void>? = nil) async throws {
        try await transact(once: once) { [self] pending in
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
    /// - Parameter once: the request, if its copies must not be executed again.
    /// - Throws: ``SessionError/invalid(_:)`` with pointers that begin with `/labels`.
    @discardableResult
    package func updateLabels(
        _ patch: JSONDocument, once: Once<SessionSummary>? = nil
    ) async throws -> SessionSummary {
        try await transact(once: once) { [self] pending in
            let labels = try pending.details.labels.merging(patch, environment.settings)
            if labels != pending.details.labels { pending.details.labels = labels }
            return summary(after: pending)
        }
    }
}
