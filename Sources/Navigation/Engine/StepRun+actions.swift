import JSONDocument

extension StepRun {
    /// Runs actions with the data of a coordinator's flow. A lenient run undoes a list of actions that fails.
    mutating func run(_ actions: [Action], of coordinator: Int) throws(JourneyRefusal) {
        guard !actions.isEmpty else { return }
        let keys = try keys()
        let scope = try scope(of: coordinator)
        guard isLenient else {
            for action in actions { try scope.perform(action) }
            if let keys { try invalidate(since: keys) }
            return
        }
        let mark = services.mark
        do {
            for action in actions { try scope.perform(action) }
            if let keys { try invalidate(since: keys) }
            if services.invalid != nil { services.rewind(to: mark) }
        } catch {
            services.rewind(to: mark)
        }
    }
}

extension DataScope {
    fileprivate func perform(_ action: Action) throws(JourneyRefusal) {
        switch action {
        case .patch(let operation): try perform(operation)
        case .clear(let service): try renew(service, .cleared)
        case .remove(let service): try renew(service, .removed)
        }
    }

    private func renew(_ service: String, _ effect: ServiceChange.Effect) throws(JourneyRefusal) {
        guard services.renew(service, effect) else { throw Self.noService(service) }
    }

    private func perform(_ operation: PatchOperation) throws(JourneyRefusal) {
        let service = operation.path.service ?? ""
        let document = try document(of: service)
        if let ready = operation.ready, !operation.pointerText.isEmpty {
            return services.write(try apply(ready, to: document, of: service), to: service)
        }
        var value: JSONDocument?
        if let template = operation.value { value = try self.value(of: template) }
        if let from = operation.from {
            // From another service: the value is read there, and a move removes it there.
            guard case .value(let found) = find(from) else { throw .missingValue(at: from) }
            value = found
            if operation.kind == .move { try remove(from) }
        }
        guard let value else { return }
        // The moved value may have been a part of the target.
        let target = operation.kind == .move ? try self.document(of: service) : document
        let kind: PatchOperation.Kind = operation.from == nil ? operation.kind : .add
        if operation.pointerText.isEmpty {
            if kind == .test {
                guard target == value else {
                    throw .actionFailed(
                        JSONViolation(pointer: operation.path.text, detail: "is not the value that \"test\" expects"))
                }
                return
            }
            return services.write(value, to: service)
        }
        let patch = PatchOperation.patch(kind, operation.pointerText, value: value)
        let patched = try apply(patch, to: target, of: service)
        if kind != .test { services.write(patched, to: service) }
    }

    private func remove(_ path: DataPath) throws(JourneyRefusal) {
        let service = path.service ?? ""
        let patch = PatchOperation.patch(.remove, path.pointer.description)
        services.write(try apply(patch, to: try document(of: service), of: service), to: service)
    }

    private func document(of service: String) throws(JourneyRefusal) -> JSONDocument {
        guard let document = services.document(of: service) else { throw Self.noService(service) }
        return document
    }

    private func apply(
        _ patch: JSONDocument, to document: JSONDocument, of service: String
    ) throws(JourneyRefusal) -> JSONDocument {
        do {
            return try document.applying(patch)
        } catch {
            throw .actionFailed(
                JSONViolation(
                    pointer: "/" + JSONPointer.escape(service) + (error.pointer ?? ""), detail: error.detail))
        }
    }

    private static func noService(_ service: String) -> JourneyRefusal {
        .actionFailed(JSONViolation(pointer: "/" + JSONPointer.escape(service), detail: "is not a service"))
    }
}
