import JSONDocument

extension StepRun {
    /// Runs actions with the data of a coordinator's flow. A lenient run undoes a list of actions that fails.
    mutating func run(_ actions: [Action], of coordinator: Int) throws(JourneyRefusal) {
        guard !actions.isEmpty else { return }
        let keys = try keys()
        var scope = try scope(of: coordinator)
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
    fileprivate mutating func perform(_ action: Action) throws(JourneyRefusal) {
        switch action {
        case .patch(let operation): try perform(operation)
        case .merge(let path, let template): try merge(template, into: try target(path))
        case .clear(let service): try renew(service, .cleared)
        case .remove(let service): try renew(service, .removed)
        case .call(let service, let command, let input): result = try call(command, of: service, with: input)
        }
    }

    func renew(_ service: String, _ effect: ServiceChange.Effect) throws(JourneyRefusal) {
        guard services.renew(service, owner: owners.owner(of: service), effect) else { throw Self.noService(service) }
    }

    /// The value is merged into an empty object where there is none, or one that is not an object.
    private func merge(_ template: ValueTemplate, into path: DataPath) throws(JourneyRefusal) {
        let service = path.service ?? ""
        let document = try knownDocument(of: service)
        let patch = try value(of: template)
        let found = document.value(at: path.pointer)
        let merged = (found ?? .null).merging(patch)
        if path.pointer.tokens.isEmpty { return write(merged, to: service) }
        let operation = PatchOperation.patch(
            found == nil ? .add : .replace, path.pointer.description, value: merged)
        write(try apply(operation, to: document, of: service), to: service)
    }

    /// The path with its computed parts.
    private func target(_ path: DataPath) throws(JourneyRefusal) -> DataPath {
        do {
            return try resolved(path)
        } catch {
            switch error {
            case .undecided(let reason): throw .actionFailed(reason)
            case .unknown: throw .actionFailed(JSONViolation(pointer: "/event", detail: "is needed here"))
            }
        }
    }

    private func perform(_ operation: PatchOperation) throws(JourneyRefusal) {
        if !operation.path.built.isEmpty || operation.from?.built.isEmpty == false {
            let from: DataPath? = if let from = operation.from { try target(from) } else { nil }
            return try perform(
                PatchOperation(
                    kind: operation.kind, path: try target(operation.path), from: from, value: operation.value))
        }
        let service = operation.path.service ?? ""
        let document = try knownDocument(of: service)
        if let ready = operation.ready, !operation.pointerText.isEmpty {
            return write(try apply(ready, to: document, of: service), to: service)
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
        let target = operation.kind == .move ? try knownDocument(of: service) : document
        let kind: PatchOperation.Kind = operation.from == nil ? operation.kind : .add
        if operation.pointerText.isEmpty {
            if kind == .test {
                guard target == value else {
                    throw .actionFailed(
                        JSONViolation(pointer: operation.path.text, detail: "is not the value that \"test\" expects"))
                }
                return
            }
            return write(value, to: service)
        }
        let patch = PatchOperation.patch(kind, operation.pointerText, value: value)
        let patched = try apply(patch, to: target, of: service)
        if kind != .test { write(patched, to: service) }
    }

    private func remove(_ path: DataPath) throws(JourneyRefusal) {
        let service = path.service ?? ""
        let patch = PatchOperation.patch(.remove, path.pointer.description)
        write(try apply(patch, to: try knownDocument(of: service), of: service), to: service)
    }

    func write(_ document: JSONDocument, to service: String) {
        services.write(document, to: service, owner: owners.owner(of: service))
    }

    private func knownDocument(of service: String) throws(JourneyRefusal) -> JSONDocument {
        guard let document = document(of: service) else { throw Self.noService(service) }
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
