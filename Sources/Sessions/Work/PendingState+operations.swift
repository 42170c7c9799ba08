import JSONDocument

extension PendingState {
    /// Does one operation on the copy.
    ///
    /// Conditions are checked against the state before the unit of work, which is the only one that the client of a
    /// transaction can know.
    mutating func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller, limit: Int
    ) throws(SessionError) {
        let service = operation.service
        try check(operation, by: caller)
        switch operation.action {
        case .put(let document):
            write(service, try service.bytes(of: document, limit: limit))
        case .mergePatch(let patch):
            write(service, try service.bytes(merging: patch, into: document(of: service)?.bytes, limit: limit))
        case .jsonPatch(let patch):
            let current = try service.document(parsing: document(of: service)?.bytes)
            write(service, try service.bytes(of: try service.patched(current, patch, limit), limit: limit))
        case .clear: clear(service)
        case .remove: remove(service)
        }
    }

    /// The state of a service after a write. It still has to be checked and written.
    ///
    /// - Parameter tree: the result of earlier writes of the unit of work; `nil` when there was none.
    mutating func tree(
        after operation: ServiceOperation, on tree: JSONDocument?, by caller: ServiceCaller, limit: Int
    ) throws(SessionError) -> JSONDocument {
        let service = operation.service
        try check(operation, by: caller)
        create(service)
        func current() throws(SessionError) -> JSONDocument {
            // Not `??`: its `nil` would be the document `null`.
            if let tree { return tree }
            return try service.document(parsing: document(of: service)?.bytes)
        }
        return try service.tree(after: operation.action, on: current, limit: limit)
    }

    func outcome(of service: RegisteredService) -> ServiceOperation.Outcome {
        let document = document(of: service)
        return .init(
            service: service, etag: document.map { ServiceETag(revision: $0.revision) } ?? .unwritten,
            // A service whose documents are kept elsewhere can only be cleared and removed.
            bytes: service.isKeptOtherwise ? service.defaultBytes : document?.bytes ?? service.defaultBytes)
    }

    private func check(_ operation: ServiceOperation, by caller: ServiceCaller) throws(SessionError) {
        try operation.check(by: caller) {
            let service = operation.service
            guard let document = base.document(of: service.index),
                !service.isOver(createdAt: document.createdAt, now: now)
            else { return .unwritten }
            return ServiceETag(revision: document.revision)
        }
    }
}

extension RegisteredService {
    /// What an action makes of a service's state, which is still to be checked.
    func tree(
        after action: ServiceOperation.Action, on current: () throws(SessionError) -> JSONDocument, limit: Int
    ) throws(SessionError) -> JSONDocument {
        switch action {
        case .put(let document): return document
        case .mergePatch(let patch): return try current().merging(patch)
        case .jsonPatch(let patch): return try patched(try current(), patch, limit)
        case .clear, .remove: return try current()
        }
    }

    fileprivate func patched(
        _ current: JSONDocument, _ patch: JSONDocument, _ limit: Int
    ) throws(SessionError) -> JSONDocument {
        do {
            return try current.applying(patch, maximumSize: limit)
        } catch {
            let input = InvalidInput(pointer: error.operation.map { "/\($0)" } ?? "", detail: error.description)
            switch error.kind {
            case .malformed, .tooDeep: throw .malformedPatch(input)
            case .conflict: throw .patchConflict(input)
            case .tooLarge: throw .tooLarge(service: name, limit: limit)
            }
        }
    }

    /// Whether the caller may write its state.
    package func isWritable(by caller: ServiceCaller) -> Bool {
        caller == .admin ? !isKeptOtherwise : !isReadOnly
    }

    /// Whether the caller may reset it to its default or remove it.
    package func isRemovable(by caller: ServiceCaller) -> Bool { caller == .admin || !isReadOnly }
}

extension ServiceOperation {
    /// Whether that caller may do it on the state as it was before the unit of work.
    ///
    /// - Parameter before: the entity tag then; asked for only where that matters.
    func check(by caller: ServiceCaller, before: () -> ServiceETag) throws(SessionError) {
        guard isAllowed(to: caller) else { throw .readOnly(service: service.name) }
        if condition.isEmpty {
            guard service.concurrency == .firstWrite, action.isWrite else { return }
            throw .preconditionRequired(service: service.name)
        }
        let current = before()
        guard condition.holds(for: current) else {
            throw .preconditionFailed(service: service.name, current: current)
        }
    }

    fileprivate func isAllowed(to caller: ServiceCaller) -> Bool {
        action.isWrite ? service.isWritable(by: caller) : service.isRemovable(by: caller)
    }
}

extension ServiceOperation.Action {
    /// Whether it writes a state.
    var isWrite: Bool {
        switch self {
        case .put, .mergePatch, .jsonPatch: true
        case .clear, .remove: false
        }
    }
}
