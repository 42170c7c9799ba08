import JSONDocument
import Navigation
import ServiceLocator

/// Why an operation on a session or its services failed. Each case has everything that a response needs; the endpoints
/// choose the status.
package indirect enum SessionError: Error, Sendable, Equatable {
    /// The token is missing, malformed, unknown or expired, or its session ended. The caller is not told which.
    case unauthenticated
    /// The token has been replaced already, and works only for a while.
    case tokenReplaced
    /// The session ended or expired during the operation.
    case ended
    /// The limit of sessions is reached.
    case tooManySessions
    case notRegistered(service: String)
    /// The session has no journey of that id.
    case noJourney(String)
    /// It had one, which has moved to another session.
    case journeyMoved(String)
    /// A journey that is over or stuck has no services.
    case journeyRefused(JourneyRefusal)
    /// Public clients cannot write it.
    case readOnly(service: String)
    /// The service is not, or no longer, in the state that the caller expects.
    case preconditionFailed(service: String, current: ServiceETag)
    /// The service refuses writes that do not say which state they replace.
    case preconditionRequired(service: String)
    /// The state of a service: one entry for each mistake.
    case invalid([JSONViolation])
    /// The input of a command: one entry for each mistake.
    case inputInvalid([JSONViolation])
    /// The service has no command of that name. `nearest` is the one that may have been meant.
    case noCommand(service: String, command: String, nearest: String?)
    /// A command has said no.
    case refused(Refusal)
    /// The document is not a JSON Patch, or its result would be nested too deep.
    case malformedPatch(JSONViolation)
    /// The JSON Patch does not fit the state.
    case patchConflict(JSONViolation)
    case tooLarge(service: String, limit: Int)
    /// All states of the session together.
    case sessionTooLarge(limit: Int)
    /// The user has as many sessions as a user may have.
    case tooManySessionsOfUser(limit: Int)
    /// Others kept committing first, or too many units of work wait.
    case contention
    case malformedCursor
    case storeUnavailable(reason: String)
    /// What the store has of the session, or of one of its services, cannot be read and is not changed.
    case damaged(service: String?, reason: String)
    case storageFull(reason: String)
    /// The operation with that index in a transaction failed.
    case inOperation(Int, SessionError)
    /// A service is broken: its factory or its code threw. The details are for the log.
    case serviceFailed(service: String, reason: String)
}

extension SessionError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .unauthenticated: "A valid session token is needed."
        case .tokenReplaced: "The token has been replaced already. Use the new one."
        case .ended: "The session has ended."
        case .tooManySessions: "The limit of sessions is reached."
        case .notRegistered(let service): "There is no service '\(service)'."
        case .noJourney(let id): JourneyError.notFound(id).description
        case .journeyMoved(let id): JourneyError.moved(id).description
        case .journeyRefused(.orphaned): "The journey is on a version of its flow that is no longer loaded."
        case .journeyRefused: "The journey is over."
        case .readOnly(let service): "Service '\(service)' can only be read."
        case .preconditionFailed(let service, let current):
            "Service '\(service)' is in another state than expected: its entity tag is \(current)."
        case .preconditionRequired(let service):
            "Service '\(service)' requires If-Match for a write."
        case .noCommand(let service, let command, let nearest):
            "Service '\(service)' has no command '\(command)'."
                + (nearest.map { " Did you mean '\($0)'?" } ?? "")
        case .refused(let refusal): refusal.detail
        case .invalid(let errors), .inputInvalid(let errors):
            errors.map { $0.pointer.isEmpty ? $0.detail : "\($0.pointer): \($0.detail)" }.joined(separator: "; ")
        case .malformedPatch(let error), .patchConflict(let error): error.detail
        case .tooLarge(let service, let limit): "The state of service '\(service)' is larger than \(limit) bytes."
        case .sessionTooLarge(let limit): "The states of all services of the session are larger than \(limit) bytes."
        case .tooManySessionsOfUser(let limit): "The user has \(limit) sessions, which is the limit."
        case .contention: "Other requests keep changing the session at the same time."
        case .malformedCursor: "The cursor is not one that the server issued."
        case .storeUnavailable: "The session store cannot be reached."
        case .damaged(let service?, _):
            "The stored state of service '\(service)' is damaged. It can be replaced, cleared or removed."
        case .damaged(nil, _): "What is stored of the session is damaged."
        case .storageFull: "The session store has no space left."
        case .inOperation(let index, let error): "Operation \(index): \(error)"
        case .serviceFailed(let service, _): "Service '\(service)' failed."
        }
    }
}

extension SessionError: CustomDebugStringConvertible {
    /// For the log.
    package var debugDescription: String {
        switch self {
        case .storeUnavailable(let reason), .storageFull(let reason), .serviceFailed(_, let reason),
            .damaged(_, let reason):
            "\(description) \(reason)"
        default: description
        }
    }
}

extension SessionError {
    /// Whether the same operation may succeed later.
    package var isTemporary: Bool {
        switch self {
        case .contention, .storeUnavailable, .storageFull: true
        default: false
        }
    }

    /// Whether it is about what the store has, and not about the operation.
    package var isDamage: Bool {
        switch self {
        case .damaged: true
        case .inOperation(_, let error): error.isDamage
        default: false
        }
    }

    /// The error without what it says of services that no client may know of.
    func concealing(_ hidden: Set<String>) -> SessionError {
        if hidden.isEmpty { return self }
        return switch self {
        case .tooLarge(let service, let limit) where hidden.contains(service): .sessionTooLarge(limit: limit)
        case .damaged(let service?, let reason) where hidden.contains(service):
            .damaged(service: nil, reason: "\(service): \(reason)")
        case .journeyRefused(let refusal): .journeyRefused(refusal.concealing(hidden))
        case .refused(let refusal): .refused(refusal.concealing(hidden))
        case .readOnly(let service) where hidden.contains(service):
            .refused(
                Refusal(
                    "action_failed", JSONViolation(pointer: "/\(service)", detail: "").concealing(hidden),
                    isOutside: true))
        case .inOperation(let index, let error): .inOperation(index, error.concealing(hidden))
        default: self
        }
    }

    package init(_ error: StoreError) {
        switch error {
        case .conflict, .overtaken: self = .contention
        case .gone: self = .ended
        case .unavailable(let reason): self = .storeUnavailable(reason: reason)
        case .damaged(let reason): self = .damaged(service: nil, reason: reason)
        case .full(let reason): self = .storageFull(reason: reason)
        }
    }

    /// What the code of a service has thrown.
    init(thrown error: any Error, by service: String) {
        switch error {
        case let error as SessionError: self = error
        case let refusal as Refusal: self = .refused(refusal)
        case ServiceLocatorError.notRegistered(let key): self = .notRegistered(service: key.name)
        case let error as ServiceLocatorError where error.underlying is SessionError || error.underlying is Refusal:
            self.init(thrown: error.underlying ?? error, by: service)
        default: self = .serviceFailed(service: service, reason: String(reflecting: error))
        }
    }
}

/// Why nothing was done with a journey, apart from what its flow has to say: that is a `JourneyRefusal`.
package enum JourneyError: Error, Sendable, Equatable {
    /// The session has no journey of that id.
    case notFound(String)
    /// The journey is not what the caller expects it to be.
    ///
    /// - current: the entity tag of what it shows; nil when there is no such journey.
    case preconditionFailed(current: ServiceETag?)
    /// The flow takes no event that does not say what its sender saw.
    case preconditionRequired
    /// As many journeys as a session may have, and none of them is over.
    case tooMany(limit: Int)
    /// `main` is to be begun, and neither the caller nor the configuration names a flow for it.
    case noMainFlow
    /// The journey has moved to another session.
    case moved(String)
    /// The flow does not say that its journeys may move.
    case notPortable(String)
    /// As many links as a session may have.
    case tooManyLinks(limit: Int)
    /// The link is none, was used, has expired, or its journey has ended.
    case linkUnusable
}

extension JourneyError: CustomStringConvertible {
    /// Safe to show to a client.
    package var description: String {
        switch self {
        case .notFound(let id): "There is no journey '\(id)'."
        case .preconditionFailed(let current):
            current.map { "The journey has changed: its entity tag is \($0)." } ?? "There is no such journey yet."
        case .preconditionRequired:
            "The flow takes an event only with If-Match, or with the step that the sender saw."
        case .tooMany(let limit): "The session has \(limit) journeys, and all of them are running."
        case .noMainFlow: "A flow is needed: none is configured for the journey 'main'."
        case .moved(let id): "The journey '\(id)' has moved to another session."
        case .notPortable(let flow): "Journeys of the flow '\(flow)' stay in their session."
        case .tooManyLinks(let limit): "The session has \(limit) links that can still be used."
        case .linkUnusable: "The link cannot be used: it was used, has expired, or is no link."
        }
    }
}
