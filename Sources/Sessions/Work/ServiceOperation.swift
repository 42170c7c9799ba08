import JSONDocument

/// An operation on a service, by itself or as a part of a transaction.
package struct ServiceOperation: Sendable {
    package enum Action: Sendable {
        /// Replaces the state.
        case put(JSONDocument)
        /// RFC 7396.
        case mergePatch(JSONDocument)
        /// RFC 6902.
        case jsonPatch(JSONDocument)
        /// Resets the living instance to its default, which is a write. Does nothing when none lives.
        case clear
        /// Removes the instance. The next access creates a new one. Does nothing when none lives.
        case remove
        /// Calls a command with an input.
        case call(ServiceCommand, JSONDocument?)
    }

    package let service: RegisteredService
    package let action: Action
    package let condition: WriteCondition
    /// The journey whose topmost coordinator says which instance is meant; nil for the session's.
    package let journey: String?

    package init(
        _ action: Action, on service: RegisteredService, condition: WriteCondition = .none, journey: String? = nil
    ) {
        self.action = action
        self.service = service
        self.condition = condition
        self.journey = journey
    }

    /// The same on the service that the definitions of a unit of work have: a reload may have replaced it since the
    /// request came. Nil when it is that service.
    ///
    /// - Throws: ``SessionError/notRegistered(service:)``, ``SessionError/noCommand(service:command:nearest:)``.
    func renewed(in pending: PendingState) throws(SessionError) -> ServiceOperation? {
        let current = pending.catalog[service.index]
        if current === service { return nil }
        guard current.isDeclared else { throw .notRegistered(service: service.name) }
        var action = action
        if case .call(let command, let input) = action {
            action = .call(try current.command(named: command.name), input)
        }
        return ServiceOperation(action, on: current, condition: condition, journey: journey)
    }

    /// The service after the operation.
    package struct Outcome: Sendable {
        package let service: RegisteredService
        package let etag: ServiceETag
        /// The state that is sent; the default when no instance lives.
        package let bytes: [UInt8]
        /// Of a command.
        package var output: JSONDocument?
    }
}

/// Who performs an operation. A trusted back end may write what clients may only read.
package enum ServiceCaller: Sendable {
    case client, admin
    /// A trusted back end, on the documents of the process.
    case process
}

extension ServiceCaller {
    /// The error as the caller may know it.
    func told(_ error: any Error, of catalog: ServiceCatalog) -> any Error {
        guard self == .client, let error = error as? SessionError else { return error }
        return error.concealing(catalog.hidden)
    }
}

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
            // Without a tree, if possible.
            let kept = try service.readable(document(of: service))
            write(service, try service.bytes(merging: patch, into: kept, limit: limit))
        case .jsonPatch:
            var tree: JSONDocument?
            try change(&tree, by: operation, of: caller, limit: limit)
            if let tree { write(service, try service.bytes(of: tree, limit: limit)) }
        case .clear: clear(service)
        case .remove: remove(service)
        // Needs a locator: see ``Session/call(_:_:of:by:on:_:)``.
        case .call: break
        }
    }

    /// Changes the state of a service by a write. It still has to be checked and written.
    ///
    /// - Parameter tree: the result of earlier writes of the unit of work; `nil` when there was none.
    mutating func change(
        _ tree: inout JSONDocument?, by operation: ServiceOperation, of caller: ServiceCaller, limit: Int
    ) throws(SessionError) {
        let service = operation.service
        try check(operation, by: caller)
        create(service)
        if tree == nil, !operation.action.replaces {
            tree = try service.document(parsing: service.readable(document(of: service)))
        }
        try service.change(&tree, by: operation.action, limit: limit, steps: &patchSteps)
    }

    func outcome(of service: RegisteredService) -> ServiceOperation.Outcome {
        let document = document(of: service)
        return .init(
            service: service, etag: document.map { ServiceETag(revision: $0.revision) } ?? .unwritten,
            // A service whose documents are kept elsewhere can only be cleared and removed.
            bytes: service.isKeptOtherwise ? service.defaultBytes : document?.bytes ?? service.defaultBytes)
    }

    func check(_ operation: ServiceOperation, by caller: ServiceCaller) throws(SessionError) {
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
    /// Does an action to a service's state, which is still to be checked.
    ///
    /// - Parameters:
    ///   - state: is needed for all but `put`. What no other document shares is changed in place.
    ///   - steps: see ``JSONDocument/apply(_:maximumSize:steps:)``.
    func change(
        _ state: inout JSONDocument?, by action: ServiceOperation.Action, limit: Int, steps: inout Int
    ) throws(SessionError) {
        switch action {
        case .put(let document): state = document
        case .mergePatch(let patch): state?.merge(patch)
        case .jsonPatch(let patch):
            guard var current = state.take() else { return }
            try self.patch(&current, patch, limit, &steps)
            state = current
        case .clear, .remove, .call: break
        }
    }

    /// No form changes so many places at once, and a merge patch changes as many as it likes.
    static let maximumPatchOperations = 1_000

    fileprivate func patch(
        _ state: inout JSONDocument, _ patch: JSONDocument, _ limit: Int, _ steps: inout Int
    ) throws(SessionError) {
        guard patch.kind != .array || patch.count <= Self.maximumPatchOperations else {
            throw .malformedPatch(
                JSONViolation(
                    pointer: "/\(Self.maximumPatchOperations)",
                    detail: "A JSON Patch has at most \(Self.maximumPatchOperations) operations."))
        }
        do {
            try state.apply(patch, maximumSize: limit, steps: &steps)
        } catch {
            let input = JSONViolation(pointer: error.operation.map { "/\($0)" } ?? "", detail: error.description)
            switch error.kind {
            case .malformed, .tooDeep: throw .malformedPatch(input)
            case .conflict: throw .patchConflict(input)
            case .tooLarge: throw .tooLarge(service: name, limit: limit)
            }
        }
    }

    /// Whether the caller may know of it.
    package func isShown(to caller: ServiceCaller) -> Bool { !isHidden || caller != .client }

    /// Whether the caller may write its state.
    package func isWritable(by caller: ServiceCaller) -> Bool {
        switch scope {
        case .process: caller == .process
        case .session: caller == .admin ? !isKeptOtherwise : !isReadOnly
        }
    }

    /// Whether the caller may reset it to its default or remove it.
    package func isRemovable(by caller: ServiceCaller) -> Bool {
        scope == .process ? caller == .process : caller == .admin || !isReadOnly
    }
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
        switch action {
        case .put, .mergePatch, .jsonPatch: service.isWritable(by: caller)
        case .clear, .remove: service.isRemovable(by: caller)
        // What is of the process is changed by a trusted back end alone.
        case .call: service.scope == .session || caller == .process
        }
    }
}

extension ServiceOperation.Action {
    /// Whether the state before does not matter.
    var replaces: Bool { if case .put = self { true } else { false } }

    /// Whether it writes a state that the caller gives.
    var isWrite: Bool {
        switch self {
        case .put, .mergePatch, .jsonPatch: true
        case .clear, .remove, .call: false
        }
    }
}
