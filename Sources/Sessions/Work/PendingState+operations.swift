import JSONDocument

extension PendingState {
    /// Does one operation on the copy.
    ///
    /// Conditions are about the state before the unit of work: in a transaction, a client can only know that one.
    mutating func perform(
        _ operation: ServiceOperation, by caller: ServiceCaller, limit: Int
    ) throws(SessionError) {
        let service = operation.service
        guard operation.isAllowed(to: caller) else { throw .readOnly(service: service.name) }
        try check(operation)
        switch operation.action {
        case .put(let document):
            write(service, try service.bytes(of: document, limit: limit))
        case .mergePatch(let patch):
            write(service, try service.bytes(merging: patch, into: document(of: service)?.bytes, limit: limit))
        case .jsonPatch(let patch):
            write(service, try service.bytes(of: try patched(service, patch, limit), limit: limit))
        case .clear: clear(service)
        case .remove: remove(service)
        }
    }

    func outcome(of service: RegisteredService) -> ServiceOperation.Outcome {
        let document = document(of: service)
        return .init(
            service: service, etag: document.map { ServiceETag(revision: $0.revision) } ?? .unwritten,
            // What is kept otherwise can only be cleared and removed.
            bytes: service.isKeptOtherwise ? service.defaultBytes : document?.bytes ?? service.defaultBytes)
    }

    private func check(_ operation: ServiceOperation) throws(SessionError) {
        let service = operation.service
        if operation.condition.isEmpty {
            guard service.concurrency == .firstWrite else { return }
            switch operation.action {
            case .put, .mergePatch, .jsonPatch: throw .preconditionRequired(service: service.name)
            case .clear, .remove: return
            }
        }
        var before = ServiceETag.unwritten
        if let document = base.document(of: service.index),
            !service.isOver(createdAt: document.createdAt, now: now)
        {
            before = ServiceETag(revision: document.revision)
        }
        guard operation.condition.holds(for: before) else {
            throw .preconditionFailed(service: service.name, current: before)
        }
    }

    private func patched(
        _ service: RegisteredService, _ patch: JSONDocument, _ limit: Int
    ) throws(SessionError) -> JSONDocument {
        let current = try service.document(parsing: document(of: service)?.bytes)
        do {
            return try current.applying(patch, maximumSize: limit)
        } catch {
            let input = InvalidInput(pointer: error.operation.map { "/\($0)" } ?? "", detail: error.description)
            switch error.kind {
            case .malformed, .tooDeep: throw .malformedPatch(input)
            case .conflict: throw .patchConflict(input)
            case .tooLarge: throw .tooLarge(service: service.name, limit: limit)
            }
        }
    }
}

extension RegisteredService {
    /// Whether that caller may give it a state.
    package func isWritable(by caller: ServiceCaller) -> Bool {
        caller == .admin ? !isKeptOtherwise : !isReadOnly
    }

    /// Whether that caller may put it back to its default or remove it.
    package func isRemovable(by caller: ServiceCaller) -> Bool { caller == .admin || !isReadOnly }
}

extension ServiceOperation {
    fileprivate func isAllowed(to caller: ServiceCaller) -> Bool {
        switch action {
        case .put, .mergePatch, .jsonPatch: service.isWritable(by: caller)
        case .clear, .remove: service.isRemovable(by: caller)
        }
    }
}
