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
