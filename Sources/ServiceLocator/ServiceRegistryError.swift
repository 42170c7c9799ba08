/// Why a registry cannot be made: all problems at once, so that one start of the program shows them all.
public struct ServiceRegistryError: Error, Hashable {
    /// One problem of the registrations.
    public enum Problem: Hashable, Sendable {
        /// A name has two registrations of one type.
        case registeredTwice(String)
        /// A name is registered with two types; a name alone must identify a service.
        case twoTypes(String)
        /// `needs:` names a service that is not registered.
        case needNotRegistered(service: String, need: String)
        /// `needs:` names a service that is registered with another type.
        case needOfAnotherType(service: String, need: String)
        /// A service of the process needs a service of a session, which it would outlive.
        case processNeedsSession(process: String, session: String)
        /// Services need each other; the first name is repeated at the end.
        case cycle([String])
        /// `replace` was called with a key that is not registered.
        case nothingToReplace(String)
    }

    /// All problems, in the order of registration.
    public let problems: [Problem]
}

extension ServiceRegistryError: CustomStringConvertible {
    /// One problem a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension ServiceRegistryError.Problem: CustomStringConvertible {
    /// The problem, the service, and how to fix it.
    public var description: String {
        switch self {
        case .registeredTwice(let name):
            "Service '\(name)' is registered twice: give one of the two another name, or use replace."
        case .twoTypes(let name):
            "Service '\(name)' is registered with two types: give one of the two another name."
        case .needNotRegistered(let service, let need):
            "Service '\(service)' needs '\(need)', which is not registered."
        case .needOfAnotherType(let service, let need):
            "Service '\(service)' needs '\(need)' as another type than it is registered with."
        case .processNeedsSession(let process, let session):
            "Service '\(process)' of the process needs '\(session)', of which each session has its own: "
                + "register '\(process)' for the session, or '\(session)' for the process."
        case .cycle(let names):
            "Services need each other: \(names.joined(separator: " → "))."
        case .nothingToReplace(let name):
            "Service '\(name)' cannot be replaced: it is not registered with that type."
        }
    }
}

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
