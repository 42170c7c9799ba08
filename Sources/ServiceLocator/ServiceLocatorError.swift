/// Why a locator could not do what it was asked.
///
/// `description` names services and nothing else, and is safe to show to a client; `debugDescription` has the types
/// and the error beneath, and is for the log.
///
/// `indirect` because errors are rare, while every result of a resolution would have to make room for the largest.
public indirect enum ServiceLocatorError: Error {
    /// No such key in the registry of the locator, nor among the services of the process.
    case notRegistered(AnyServiceKey)
    /// The name is registered, with another type.
    case wrongType(asked: AnyServiceKey, registered: AnyServiceKey)
    /// The key is for supplied instances, and this locator was given none.
    case notSupplied(AnyServiceKey)
    /// Services that were made for each other's sake. The first name stands at the end again; with several threads
    /// the chain goes through what each of them was making.
    case cycle([String])
    /// The factory of a service of the process asked for one of a session.
    case processNeedsSession(process: AnyServiceKey, session: AnyServiceKey)
    /// The factory threw. The service whose factory it was, which may be one that was needed by the one asked for.
    case factoryFailed(AnyServiceKey, any Error)
    /// The instance does not conform to `Service`.
    case notClearable(AnyServiceKey)
    /// The instance's own `clear` threw.
    case clearFailed(AnyServiceKey, any Error)
    /// A service of the process is not cleared from below: that would clear it for everybody.
    case ownedByParent(AnyServiceKey)

    /// What the factory or the service itself threw.
    public var underlying: (any Error)? {
        switch self {
        case .factoryFailed(_, let error), .clearFailed(_, let error): error
        default: nil
        }
    }
}

extension ServiceLocatorError: CustomStringConvertible {
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
