import HTTPServer
import JSONDocument
import Sessions

extension Problem {
    /// The problem for an error of a session.
    package init(_ error: SessionError) {
        switch error {
        case .unauthenticated, .ended: self = .unauthenticated
        case .tokenReplaced: self.init(ProblemKind.tokenReplaced)
        case .tooManySessions: self.init(.tooManySessions, fields: [.retryAfter: "60"])
        case .notRegistered: self.init(.serviceNotFound, error.description)
        case .noJourney: self.init(.journeyNotFound, error.description)
        case .journeyMoved: self.init(.journeyMoved, error.description)
        case .journeyRefused(let refusal): self.init(refusal, ofJourneyAt: nil)
        case .readOnly:
            // The path exists, but not for this method.
            self.init(.methodNotAllowed, error.description, fields: [.allow: "GET, HEAD, OPTIONS"])
        case .preconditionFailed(_, let current):
            self.init(.preconditionFailed, error.description, fields: [.etag: current.description])
        case .preconditionRequired: self.init(.preconditionRequired, error.description)
        case .invalid(let errors):
            self.init(.invalidState, "The input has \(errors.count == 1 ? "a mistake" : "mistakes").", errors: errors)
        case .inputInvalid(let errors):
            self.init(.invalidInput, "The input has \(errors.count == 1 ? "a mistake" : "mistakes").", errors: errors)
        case .noCommand: self.init(.commandNotFound, error.description)
        case .refused(let refusal):
            self.init(
                .commandRefused, refusal.detail,
                errors: [refusal.reason],
                members: [(name: "reason", value: JSONDocument(refusal.code))])
        case .malformedPatch(let place): self.init(.invalidPatch, place.detail, errors: [place])
        case .patchConflict(let place): self.init(.patchConflict, place.detail, errors: [place])
        case .tooLarge, .sessionTooLarge: self.init(.stateTooLarge, error.description)
        case .tooManySessionsOfUser: self.init(.tooManySessionsOfUser, error.description)
        case .contention: self.init(.contention, error.description, fields: [.retryAfter: "1"])
        case .malformedCursor:
            self.init(.invalidInput, errors: [JSONViolation(pointer: "/cursor", detail: error.description)])
        case .storeUnavailable: self.init(.storeUnavailable, error.description, fields: [.retryAfter: "1"])
        // A backup, or a repair, takes at least so long.
        case .damaged: self.init(.dataDamaged, error.description, fields: [.retryAfter: "600"])
        case .storageFull: self.init(.storageFull, error.description)
        case .inOperation(let index, let error): self.init(error, inOperation: index)
        case .serviceFailed: self.init(.internalError)
        }
    }

    /// The same for every bad token.
    package static let unauthenticated = Problem(.unauthenticated, fields: [.wwwAuthenticate: "Bearer"])

    /// The error of one operation of a transaction, with pointers into the transaction.
    private init(_ error: SessionError, inOperation index: Int) {
        let operation = "/operations/\(index)"
        func at(_ member: String) -> [JSONViolation] {
            [JSONViolation(pointer: "\(operation)/\(member)", detail: error.description)]
        }
        let plain = Problem(error)
        switch error {
        case .noJourney: self.init(.invalidInput, error.description, errors: at("journey"))
        case .journeyMoved: self.init(plain.kind, plain.detail, errors: at("journey"))
        case .notRegistered, .readOnly: self.init(.invalidInput, error.description, errors: at("service"))
        case .preconditionFailed, .preconditionRequired:
            self.init(plain.kind, plain.detail, errors: at("if_match"), fields: plain.fields)
        case .tooLarge: self.init(plain.kind, plain.detail, errors: at("value"))
        case .refused(let refusal) where refusal.isOutside: self = plain
        case .invalid, .inputInvalid, .refused, .malformedPatch, .patchConflict:
            self.init(
                plain.kind, plain.detail, errors: plain.errors.within("\(operation)/value"), members: plain.members)
        default: self = plain
        }
    }
}

extension Problem {
    package init(_ error: WatchError) {
        switch error {
        case .resumePointGone: self.init(ProblemKind.resumePointGone)
        case .stopping: self.init(ProblemKind.stopping, fields: [.retryAfter: "1"])
        }
    }
}

extension Problem {
    /// The problem for an error of a task.
    package init(_ error: TaskError) {
        switch error {
        case .notFound: self.init(.taskNotFound)
        case .over: self.init(.taskOver)
        case .notClaimed: self.init(.taskNotClaimed)
        case .held: self.init(.taskHeld)
        }
    }

    /// The problem for an outcome that a task cannot have.
    package init(unknownOutcome outcome: String, known: [String]) {
        self.init(
            .invalidInput, "The task cannot end with the outcome \(outcome.quoted).",
            errors: [
                JSONViolation(pointer: "/outcome", detail: "must be one of \(known.joined(separator: ", "))")
            ])
    }
}
