/// Why a registry cannot be frozen: every problem, so that one start of the program shows them all.
public struct ServiceRegistryError: Error, Hashable {
    /// One thing that is wrong with a registry.
    public enum Problem: Hashable, Sendable {
        /// One name, one type, two registrations.
        case registeredTwice(String)
        /// One name with two types: a name alone has to be enough to find a service.
        case twoTypes(String)
        /// `needs:` names a service that nobody registered.
        case needNotRegistered(service: String, need: String)
        /// `needs:` names a service that is registered with another type.
        case needOfAnotherType(service: String, need: String)
        /// A service of the process needs one of a session, which it would outlive.
        case processNeedsSession(process: String, session: String)
        /// Services that need each other; the first name stands at the end again.
        case cycle([String])
        /// `replace` of a key that was not registered.
        case nothingToReplace(String)
    }

    /// Everything that is wrong, in the order in which it was found.
    public let problems: [Problem]
}

extension ServiceRegistryError: CustomStringConvertible {
    /// One problem a line.
    public var description: String { problems.map(\.description).joined(separator: "\n") }
}

extension ServiceRegistryError.Problem: CustomStringConvertible {
    /// What is wrong, with which service, and how to mend it.
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
