import ServiceLocator

/// Why something was not done with a session or its services. Each case has all that an answer needs; which status it
/// gets is for the endpoints to say.
package indirect enum SessionError: Error, Sendable, Equatable {
    /// The token is missing, malformed, unknown, expired, or its session ended: nobody is told which.
    case unauthenticated
    /// The session ended or expired while something was being done with it.
    case ended
    /// As many sessions as there may be.
    case tooManySessions
    case notRegistered(service: String)
    /// The session has no journey of that id.
    case noJourney(String)
    /// Public clients cannot write it.
    case readOnly(service: String)
    /// The service is not, or no longer, in the state that the caller expects.
    case preconditionFailed(service: String, current: ServiceETag)
    /// The service takes no write that does not say which state it replaces.
    case preconditionRequired(service: String)
    /// One entry for each thing that is wrong.
    case invalid([InvalidInput])
    /// The document is not a JSON Patch, or its result would be nested too deep.
    case malformedPatch(InvalidInput)
    /// The JSON Patch does not fit the state.
    case patchConflict(InvalidInput)
    case tooLarge(service: String, limit: Int)
    /// Others wrote first, again and again, or too many are waiting to write.
    case contention
    case malformedCursor
    case storeUnavailable(reason: String)
    case storageFull(reason: String)
    /// The operation of that index, of several that are done all or none.
    case inOperation(Int, SessionError)
    /// A service is broken: its factory or its code threw. A matter for the log.
    case serviceFailed(service: String, reason: String)
}

/// What is wrong at a place of what the client sent.
package struct InvalidInput: Sendable, Equatable {
    /// RFC 6901.
    package let pointer: String
    package let detail: String

    package init(pointer: String, detail: String) {
        self.pointer = pointer
        self.detail = detail
    }
}

extension SessionError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .unauthenticated: "A valid session token is needed."
        case .ended: "The session has ended."
        case .tooManySessions: "There are as many sessions as there may be."
        case .notRegistered(let service): "There is no service '\(service)'."
        case .noJourney(let id): "There is no journey '\(id)'."
        case .readOnly(let service): "Service '\(service)' can only be read."
        case .preconditionFailed(let service, let current):
            "Service '\(service)' is in another state than expected: its entity tag is \(current)."
        case .preconditionRequired(let service):
            "Service '\(service)' is only written with If-Match, which says which state is replaced."
        case .invalid(let errors):
            errors.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer): \($0.detail)" }.joined(separator: "; ")
        case .malformedPatch(let error), .patchConflict(let error): error.detail
        case .tooLarge(let service, let limit): "The state of service '\(service)' is larger than \(limit) bytes."
        case .contention: "Others keep changing the session at the same time."
        case .malformedCursor: "The cursor is not one that was given out."
        case .storeUnavailable: "The store of the sessions cannot be reached."
        case .storageFull: "The store of the sessions has no room left."
        case .inOperation(let index, let error): "Operation \(index): \(error)"
        case .serviceFailed(let service, _): "Service '\(service)' failed."
        }
    }
}

extension SessionError: CustomDebugStringConvertible {
    /// For the log.
    package var debugDescription: String {
        switch self {
        case .storeUnavailable(let reason), .storageFull(let reason), .serviceFailed(_, let reason):
            "\(description) \(reason)"
        default: description
        }
    }
}

extension SessionError {
    init(_ error: StoreError) {
        switch error {
        case .conflict: self = .contention
        case .gone: self = .ended
        case .unavailable(let reason): self = .storeUnavailable(reason: reason)
        case .full(let reason): self = .storageFull(reason: reason)
        }
    }
}

extension SessionError {
    /// What a locator says. A service's own error that is one of sessions stays what it is.
    init(_ error: ServiceLocatorError, service: String) {
        switch error {
        case .notRegistered(let key): self = .notRegistered(service: key.name)
        default:
            self =
                error.underlying as? SessionError
                ?? .serviceFailed(service: service, reason: String(reflecting: error))
        }
    }
}
