/// Checks all registrations together, and lists the problems in the order of registration.
struct RegistryCheck {
    private let registrations: [Registration]
    private let misplacedReplacements: [String]
    /// The first registration of each name.
    private let byName: [String: Registration]

    init(_ registrations: [Registration], misplacedReplacements: [String]) {
        self.registrations = registrations
        self.misplacedReplacements = misplacedReplacements
        byName = Dictionary(registrations.map { ($0.key.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    func problems() -> [ServiceRegistryError.Problem] {
        nameProblems() + needProblems() + cycles() + misplacedReplacements.map { .nothingToReplace($0) }
    }

    private func nameProblems() -> [ServiceRegistryError.Problem] {
        var types: [String: [AnyServiceKey]] = [:]
        var names: [String] = []
        for registration in registrations {
            if types[registration.key.name] == nil { names.append(registration.key.name) }
            types[registration.key.name, default: []].append(registration.key)
        }
        return names.compactMap { name in
            let keys = types[name, default: []]
            guard keys.count > 1 else { return nil }
            return Set(keys).count == 1 ? .registeredTwice(name) : .twoTypes(name)
        }
    }

    private func needProblems() -> [ServiceRegistryError.Problem] {
        registrations.flatMap { registration in
            registration.needs.compactMap { need -> ServiceRegistryError.Problem? in
                let service = registration.key.name
                guard let needed = byName[need.name] else {
                    return .needNotRegistered(service: service, need: need.name)
                }
                // `nameProblems` reports a name that is registered with several types.
                guard registrations.contains(where: { $0.key == need }) else {
                    return .needOfAnotherType(service: service, need: need.name)
                }
                guard registration.scope == .session || needed.scope == .process else {
                    return .processNeedsSession(process: service, session: need.name)
                }
                return nil
            }
        }
    }

    /// Follows the needs depth first; a need that is still on the path closes a cycle. Each edge is followed once, so
    /// each cycle is reported once.
    private func cycles() -> [ServiceRegistryError.Problem] {
        var found: [ServiceRegistryError.Problem] = []
        var done: Set<String> = []
        var path: [(name: String, remaining: ArraySlice<AnyServiceKey>)] = []
        for registration in registrations where !done.contains(registration.key.name) {
            path.append((registration.key.name, registration.needs[...]))
            while let top = path.indices.last {
                guard let need = path[top].remaining.popFirst() else {
                    done.insert(path[top].name)
                    path.removeLast()
                    continue
                }
                if let start = path.firstIndex(where: { $0.name == need.name }) {
                    found.append(.cycle(path[start...].map(\.name) + [need.name]))
                } else if !done.contains(need.name), let needed = byName[need.name] {
                    path.append((need.name, needed.needs[...]))
                }
            }
        }
        return found
    }
}
