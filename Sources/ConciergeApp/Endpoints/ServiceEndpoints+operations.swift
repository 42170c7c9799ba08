import API

extension ServiceEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/sessions/{session}/services", id: "listServices",
            summary: "The registered services and their instances; creates none",
            parameters: [.limit, .cursor], responses: [.json("The services that are registered.", "ServiceList")],
            problems: [.invalidInput]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}/services", id: "removeServices",
            summary: "Removes every instance of the session, newest first",
            parameters: [.idempotencyKey], responses: [.done("Removed.")], problems: writing),
        APIOperation(
            method: .get, path: "/v1/sessions/{session}/services/{name}", id: "getService",
            summary: "The service's state; creates the instance if there is none",
            parameters: [.ifNoneMatch, .ifMatch, .prefer],
            responses: [
                .json("The state.", .serviceState, headers: [.etag, .preferenceApplied]),
                APIResponse(
                    status: .notModified, meaning: "The client has it already.", headers: [.etag, .preferenceApplied]),
            ],
            problems: [.serviceNotFound, .invalidCondition, .preconditionFailed]),
        APIOperation(
            method: .put, path: "/v1/sessions/{session}/services/{name}", id: "replaceService",
            summary: "Replaces the state", parameters: [.ifMatch, .ifNoneMatch, .prefer, .idempotencyKey],
            body: .json(.serviceState),
            responses: [.json("The new state.", .serviceState, headers: [.etag]), minimalWrite],
            problems: writingOne + [.invalidState, .stateTooLarge, .preconditionRequired]),
        APIOperation(
            method: .patch, path: "/v1/sessions/{session}/services/{name}", id: "patchService",
            summary: "Changes the state with a merge patch or a JSON Patch",
            parameters: [.ifMatch, .ifNoneMatch, .prefer, .idempotencyKey],
            body: APIBody([
                (MediaType.mergePatch, .servicePatch), (MediaType.jsonPatch, nil),
                (MediaType.json, .servicePatch),
            ]),
            responses: [.json("The new state.", .serviceState, headers: [.etag]), minimalWrite],
            problems: writingOne + [
                .invalidState, .invalidPatch, .patchConflict, .stateTooLarge, .preconditionRequired,
            ]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}/services/{name}", id: "removeService",
            summary: "Removes the instance: the next access creates a new one",
            parameters: [.ifMatch, .ifNoneMatch, .idempotencyKey],
            responses: [.done("Removed, or there was none.", headers: [.etag])], problems: writingOne),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}/services/{name}/state", id: "clearService",
            summary: "Resets the instance to its default", parameters: [.ifMatch, .ifNoneMatch, .idempotencyKey],
            responses: [.done("Cleared.", headers: [.etag])], problems: writingOne),
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/services/{name}/commands/{command}", id: "callServiceCommand",
            summary: "Calls a command",
            parameters: [.ifMatch, .ifNoneMatch, .acceptLanguage, .prefer, .idempotencyKey],
            body: .json(.commandInput),
            responses: [
                .json(
                    "The output.", .commandOutput, headers: [.etag, .preferenceApplied]),
                .done(
                    "Done; there is no output, or `Prefer: return=minimal` left it out.",
                    headers: [.etag, .preferenceApplied]),
            ],
            problems: writing + [
                .serviceNotFound, .commandNotFound, .invalidCondition, .preconditionFailed, .commandRefused,
                .invalidState, .stateTooLarge, .invalidInput,
            ]),
    ]

    static let ofSession = "/v1/sessions/{session}/services"
    static let ofProcess = "/v1/services"
    static let ofJourney = "/v1/sessions/{session}/journeys/{id}/services"

    /// The same on the services that a journey sees, without removing all at once.
    static let journeyOperations: [APIOperation] = operations.compactMap { operation in
        let path = operation.path.dropFirst(ofSession.utf8.count)
        if path.isEmpty, operation.method == .delete { return nil }
        var operation = operation
        operation.path = ofJourney + path
        operation.id += "OfJourney"
        operation.summary += "; of the services that the journey's topmost coordinator sees"
        operation.problems += [.journeyNotFound, .journeyMoved]
        return operation
    }

    /// The same on the documents of the process, on the admin listener.
    static let processOperations: [APIOperation] = operations.compactMap { operation in
        let path = operation.path.dropFirst(ofSession.utf8.count)
        if path.isEmpty { return nil }
        var operation = operation
        operation.path = ofProcess + path
        operation.id += "OfProcess"
        operation.summary += "; of the process, which all sessions read"
        return operation
    }

    private static let writing: [ProblemKind] = [.contention, .storageFull]
    private static let writingOne: [ProblemKind] =
        writing + [.serviceNotFound, .methodNotAllowed, .invalidCondition, .preconditionFailed]

    private static let minimalWrite = APIResponse.done(
        APIResponse.minimal.meaning, headers: [.etag, .preferenceApplied])
}
