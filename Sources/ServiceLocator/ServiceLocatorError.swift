/// Why a call of a locator failed.
///
/// `description` names only services and is safe to show to a client. `debugDescription` adds types and the underlying
/// error, for the log.
///
/// `indirect`, because errors are rare, and otherwise every result would be as large as the largest error.
public indirect enum ServiceLocatorError: Error {
    /// Neither the registry of the locator nor those above it have the key.
    case notRegistered(AnyServiceKey)
    /// The name is registered with another type.
    case wrongType(asked: AnyServiceKey, registered: AnyServiceKey)
    /// The key needs a supplied instance, and this locator has none.
    case notSupplied(AnyServiceKey)
    /// Services need each other to be made. The first name is repeated at the end. With several threads, the chain goes
    /// through the services that each of them was making.
    case cycle([String])
    /// The factory of a service of the process resolved a service of a session.
    case processNeedsSession(process: AnyServiceKey, session: AnyServiceKey)
    /// The factory of that service threw. The service may be a need of the one that was resolved.
    case factoryFailed(AnyServiceKey, any Error)
    /// The instance does not conform to `Service`.
    case notClearable(AnyServiceKey)
    /// The `clear` of the instance threw.
    case clearFailed(AnyServiceKey, any Error)
    /// A locator with a parent cannot clear a service of the process: all sessions share it.
    case ownedByParent(AnyServiceKey)

    /// The error of the factory or of the service.
    public var underlying: (any Error)? {
        switch self {
        case .factoryFailed(_, let error), .clearFailed(_, let error): error
        default: nil
        }
    }
}

extension ServiceLocatorError: CustomStringConvertible {
    /// The services that are involved, safe to show to a client.
    public var description: String {
        switch self {
        case .notRegistered(let key): "There is no service '\(key)'."
        case .wrongType(let asked, _): "Service '\(asked)' is of another type than it was asked for."
        case .notSupplied(let key): "Service '\(key)' was not supplied here."
        case .cycle(let names): "Services need each other: \(names.joined(separator: " → "))."
        case .processNeedsSession(let process, let session):
            "Service '\(process)' of the process asked for '\(session)', of which each session has its own."
        case .factoryFailed(let key, _): "Service '\(key)' could not be made."
        case .notClearable(let key): "Service '\(key)' cannot be cleared."
        case .clearFailed(let key, _): "Service '\(key)' could not be cleared."
        case .ownedByParent(let key): "Service '\(key)' belongs to the whole process and is not cleared from a session."
        }
    }
}

extension ServiceLocatorError: CustomDebugStringConvertible {
    /// The same with types and the underlying error, for the log.
    public var debugDescription: String {
        switch self {
        case .wrongType(let asked, let registered):
            "\(description) Asked: \(asked.type), registered: \(registered.type)."
        case .factoryFailed(_, let error), .clearFailed(_, let error):
            "\(description) \(String(reflecting: error))"
        case .notRegistered(let key), .notSupplied(let key), .notClearable(let key), .ownedByParent(let key):
            "\(description) Type: \(key.type)."
        case .cycle, .processNeedsSession: description
        }
    }
}
