import JSONDocument

extension StepRun {
    /// Runs actions with the data of a coordinator's flow. A lenient run undoes a list of actions that fails.
    ///
    /// - Returns: whether they were done, and the output of the last command that they called.
    @discardableResult
    mutating func run(
        _ actions: [Action], of coordinator: Int
    ) throws(JourneyRefusal) -> (areDone: Bool, result: JSONDocument?) {
        guard !actions.isEmpty else { return (true, nil) }
        let keys = try keys()
        var scope = try scope(of: coordinator)
        guard isLenient else {
            try scope.perform(actions)
            if let keys { try invalidate(since: keys) }
            return (true, scope.result)
        }
        let (mark, overwork) = (services.mark, services.overwork)
        services.overwork = nil
        defer { services.overwork = overwork }
        do {
            try scope.perform(actions)
            if let keys { try invalidate(since: keys) }
            if services.invalid == nil, services.overwork == nil { return (true, scope.result) }
        } catch {}
        services.rewind(to: mark)
        services.work.recover()
        return (false, nil)
    }
}

extension DataScope {
    mutating func perform(_ actions: [Action]) throws(JourneyRefusal) {
        for action in actions { try perform(action) }
    }

    private mutating func perform(_ action: Action) throws(JourneyRefusal) {
        switch action {
        case .patch(let operation): try perform(operation)
        case .merge(let path, let template): try merge(template, into: try target(path))
        case .set(let path, let template): try set(template, at: try target(path))
        case .clear(let service): try renew(service, .cleared)
        case .remove(let service): try renew(service, .removed)
        case .call(let service, let command, let input): result = try call(command, of: service, with: input)
        case .task(let name, let input): try record(name, with: input)
        }
    }

    /// Records a task for which the journey does not wait.
    private func record(_ name: String, with template: ValueTemplate?) throws(JourneyRefusal) {
        var input = JSONDocument.emptyObject
        if let template { input = try value(of: template) }
        try input.checkNesting(at: "/with")
        let limit = services.source.roomForTasks
        guard services.sideTasks.count < limit else { throw .tooManyTasks(limit: SideTask.mostOfSession) }
        // Commands record none: the reader has reported that.
        guard case .flow(let flow) = definition else { return }
        services.record(SideTask(name: name, input: input, flow: flow.id, version: flow.version))
    }

    func renew(_ service: String, _ effect: ServiceChange.Effect) throws(JourneyRefusal) {
        guard services.renew(service, owner: owners.owner(of: service), effect) else { throw Self.noService(service) }
    }

    /// The value is merged into an empty object where there is none, or one that is not an object.
    private func merge(_ template: ValueTemplate, into path: DataPath) throws(JourneyRefusal) {
        let document = try knownDocument(of: path.service ?? "")
        let patch = try value(of: template)
        try put((document.value(at: path.pointer) ?? .null).merging(patch), at: path, in: document)
    }

    private func set(_ template: ValueTemplate, at path: DataPath) throws(JourneyRefusal) {
        let document = try knownDocument(of: path.service ?? "")
        try put(try value(of: template), at: path, in: document)
    }

    /// Replaces the value at a path, or adds it where there is none.
    private func put(_ value: JSONDocument, at path: DataPath, in document: JSONDocument) throws(JourneyRefusal) {
        let service = path.service ?? ""
        if path.pointer.tokens.isEmpty { return try write(whole: value, to: service) }
        let kind: PatchOperation.Kind = document.value(at: path.pointer) == nil ? .add : .replace
        let operation = PatchOperation.patch(kind, path.pointer.description, value: value)
        write(try apply(operation, to: document, of: service), to: service)
    }

    /// The path with its computed parts.
    private func target(_ path: DataPath) throws(JourneyRefusal) -> DataPath {
        do {
            return try resolved(path)
        } catch {
            throw error.refusal
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
            guard case .value(let found) = find(from) else { throw .actionFailed(.noValue(at: from.text)) }
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
            return try write(whole: value, to: service)
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

    /// A patch checks that its result is not nested too deeply to be read again; what is made otherwise may be.
    private func write(whole document: JSONDocument, to service: String) throws(JourneyRefusal) {
        guard document.depth <= JSONDocument.maximumDepth else {
            throw .actionFailed(
                JSONViolation(
                    pointer: "/" + JSONPointer.escape(service),
                    detail: "would be nested more than \(JSONDocument.maximumDepth) levels deep"))
        }
        write(document, to: service)
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

/// Commands that actions call.
extension DataScope {
    /// Runs a command and makes its changes, as if actions had made them.
    ///
    /// - Returns: the output.
    func call(
        _ command: String, of service: String, with template: ValueTemplate?
    ) throws(JourneyRefusal) -> JSONDocument? {
        var input: JSONDocument?
        if let template { input = try value(of: template) }
        let called: CommandResult
        do {
            called = try services.call(command, of: service, with: input, seenBy: owners, now: now)
        } catch {
            if error.isOutside { throw .guardNotMet(error.violations) }
            throw .guardNotMet(
                error.violations.map { violation in
                    let tokens = JSONPointer(parsing: violation.pointer)?.tokens ?? []
                    let place = template.flatMap { origin(of: tokens[...], in: $0) }
                    return violation.at(place ?? "/" + JSONPointer.escape(service))
                })
        }
        for change in called.changes {
            switch change.effect {
            case .written(let document): write(document, to: change.service)
            case .cleared, .removed: try renew(change.service, change.effect)
            }
        }
        return called.output
    }

    /// The path of the data that a part of a value was made from; nil for a constant. A client finds there what it has
    /// sent.
    private func origin(of tokens: ArraySlice<String>, in template: ValueTemplate) -> String? {
        switch template {
        case .object(let members):
            guard let name = tokens.first else { return nil }
            return members.first { $0.name == name }.flatMap { origin(of: tokens.dropFirst(), in: $0.value) }
        case .array(let elements):
            guard let index = tokens.first.flatMap({ Int($0) }), elements.indices.contains(index) else { return nil }
            return origin(of: tokens.dropFirst(), in: elements[index])
        case .from(let path, _): return resolvedText(of: path) + JSONPointer(Array(tokens)).description
        default: return template.path.map(resolvedText)
        }
    }
}

/// Sets values back whose keys have changed: the `invalidates` of the flows.
extension StepRun {
    /// The values that others depend on, before actions run.
    struct Keys {
        fileprivate let values: [(coordinator: Int, rule: Invalidation, value: JSONDocument?)]
    }

    /// Nil when no flow of the journey says that values depend on others.
    mutating func keys() throws(JourneyRefusal) -> Keys? {
        var values: [(coordinator: Int, rule: Invalidation, value: JSONDocument?)] = []
        for place in journey.coordinators.indices {
            let coordinator = journey.coordinators[place].id
            guard let flow = try? flow(of: coordinator), !flow.invalidates.isEmpty else { continue }
            let scope = try scope(of: coordinator)
            for rule in flow.invalidates { values.append((coordinator, rule, scope.present(at: rule.key))) }
        }
        return values.isEmpty ? nil : Keys(values: values)
    }

    /// Sets back what depends on the keys that have changed, and what depends on that in turn.
    mutating func invalidate(since keys: Keys) throws(JourneyRefusal) {
        var values = keys.values
        // Each round sets at least one more value back; a value that is set back twice does not change.
        for _ in 0...values.count {
            var isChanged = false
            for place in values.indices {
                let (coordinator, rule, before) = values[place]
                // A flow that has ended has no say any more.
                guard journey.coordinators.place(of: coordinator) != nil else { continue }
                let scope = try scope(of: coordinator)
                let now = scope.present(at: rule.key)
                guard now != before else { continue }
                values[place].value = now
                isChanged = true
                for dependent in rule.dependents {
                    // Where it cannot be decided, the value may be wrong, and asking again does no harm.
                    if let guardian = dependent.guard, services.apart({ scope.test(guardian) }) == .fails { continue }
                    try scope.setBack(dependent.path)
                }
            }
            guard isChanged else { return }
        }
    }
}

extension DataScope {
    /// The value at a path; nil when there is none.
    func present(at path: DataPath) -> JSONDocument? {
        if case .value(let value) = find(path) { value } else { nil }
    }

    /// Whether a screen may be passed for the person: there is a value other than null at each of the paths. Never
    /// where the screen does not say what it asks for.
    func isAnswered(_ answers: [DataPath]?) -> Bool {
        guard let answers else { return false }
        return answers.allSatisfy { path in present(at: path).map { !$0.isNull } ?? false }
    }

    /// Gives a value of a service its default.
    fileprivate func setBack(_ path: DataPath) throws(JourneyRefusal) {
        guard let service = path.service, let usual = services.source.defaultDocument(of: service) else { return }
        let value = usual.value(at: path.pointer)
        guard present(at: path) != value, let document = document(of: service) else { return }
        if path.pointer.tokens.isEmpty { return write(usual, to: service) }
        let pointer = path.pointer.description
        let patch =
            value.map { PatchOperation.patch(.add, pointer, value: $0) } ?? PatchOperation.patch(.remove, pointer)
        // Without the object around it, the value is not there either.
        guard let patched = try? document.applying(patch) else { return }
        write(patched, to: service)
    }
}
