import JSONDocument

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
            guard let flow = engine.catalog.flow(of: journey.coordinators, at: place), !flow.invalidates.isEmpty
            else { continue }
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
                for path in rule.dependents { try scope.setBack(path) }
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

    /// Whether there is a value other than null at each of the paths.
    func isAnswered(_ answers: [DataPath]) -> Bool {
        answers.allSatisfy { path in present(at: path).map { !$0.isNull } ?? false }
    }

    /// Gives a value of a service its default.
    fileprivate func setBack(_ path: DataPath) throws(JourneyRefusal) {
        guard let service = path.service, let usual = services.defaultDocument(of: service) else { return }
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
