import HTTPServer

/// A kind of error: the `type` of a problem, which `GET /problems/{code}` explains.
package struct ProblemKind: Sendable {
    /// A stable name for programs.
    package let code: String
    package let status: HTTPStatus
    package let title: String
    /// What it means and what to do about it, in a sentence or two.
    package let explanation: String

    private init(_ status: HTTPStatus, _ code: String, _ title: String, _ explanation: String) {
        self.status = status
        self.code = code
        self.title = title
        self.explanation = explanation
    }

    /// The `type` of its problems, the address of its explanation.
    package func type(under basePath: String) -> String { "\(basePath)/problems/\(code)" }

    package static func named(_ code: String) -> ProblemKind? { byCode[code] }

    private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })
}

// A new kind is a constant here and its place in `all`.
extension ProblemKind {
    package static let invalidJSON = ProblemKind(
        .badRequest, "invalid_json", "Not JSON",
        "The body is not JSON according to RFC 8259 and RFC 7493: the detail says where.")
    package static let invalidInput = ProblemKind(
        .badRequest, "invalid_input", "Invalid input",
        "Part of the request is not valid: errors says what and where.")
    package static let invalidState = ProblemKind(
        .badRequest, "invalid_state", "State does not fit its schema",
        "The service's state would violate its schema: errors has one entry for each violation.")
    package static let invalidPatch = ProblemKind(
        .badRequest, "invalid_patch", "Patch cannot be used",
        "The body is not a JSON Patch as RFC 6902 defines it, or its result would be nested more than 64 levels deep.")
    package static let invalidCondition = ProblemKind(
        .badRequest, "invalid_condition", "Malformed condition",
        "If-Match or If-None-Match is not a list of entity tags.")
    package static let ambiguousCredentials = ProblemKind(
        .badRequest, "ambiguous_credentials", "More than one credential",
        "A request must carry one credential: one Authorization field or one session cookie.")
    package static let invalidIdempotencyKey = ProblemKind(
        .badRequest, "invalid_idempotency_key", "Malformed Idempotency-Key",
        "Idempotency-Key must be one string of 1 to 255 visible ASCII characters.")
    package static let idempotencyKeyNotPossible = ProblemKind(
        .badRequest, "idempotency_key_not_possible", "No Idempotency-Key here",
        "An export is too large to be replayed: send the request without an Idempotency-Key. An export changes nothing."
    )
    package static let notAnExport = ProblemKind(
        .badRequest, "not_an_export", "Not an export",
        "The body does not begin like an export that this version can read: errors says why.")
    package static let unauthenticated = ProblemKind(
        .unauthorized, "unauthenticated", "Not authenticated", "A valid session token is needed.")
    package static let adminKeyNeeded = ProblemKind(
        .unauthorized, "admin_key_needed", "Admin key needed",
        "The admin listener requires its key, in X-Admin-Key or as a bearer token.")
    package static let tokenReplaced = ProblemKind(
        .conflict, "token_replaced", "Token replaced already",
        "The token has been replaced already, and its successor is the session's token. A client that repeats the first "
            + "request with its Idempotency-Key gets that one again.")
    package static let crossSite = ProblemKind(
        .forbidden, "cross_site_request", "Request from another site",
        "With a session cookie, a request that changes something must come from the same site or an allowed origin. The "
            + "admin listener responds to no page of another origin.")
    package static let foreignHost = ProblemKind(
        .forbidden, "foreign_host", "Not addressed to this machine",
        "Without a key, the admin listener answers only to the names of the loopback interface.")
    package static let noUser = ProblemKind(
        .forbidden, "no_user", "No user attached",
        "Only a session that a user is attached to can see or end that user's sessions.")
    package static let notFound = ProblemKind(.notFound, "not_found", "Not found", "There is nothing at this path.")
    package static let sessionNotFound = ProblemKind(
        .notFound, "session_not_found", "No such session", "There is no session of that id for this caller.")
    package static let serviceNotFound = ProblemKind(
        .notFound, "service_not_found", "No such service", "No service of that name is registered.")
    package static let commandNotFound = ProblemKind(
        .notFound, "command_not_found", "No such command",
        "The service has no command of that name: the detail says which one may have been meant.")
    package static let flowNotFound = ProblemKind(
        .notFound, "flow_not_found", "No such flow", "No flow of that id and version is loaded.")
    package static let journeyNotFound = ProblemKind(
        .notFound, "journey_not_found", "No such journey", "The session has no journey of that id.")
    package static let taskNotFound = ProblemKind(.notFound, "task_not_found", "No such task", "No task has that id.")
    package static let linkNotFound = ProblemKind(
        .notFound, "link_not_found", "Link cannot be used",
        "The link is unknown, was used, or has expired, or its journey is over: ask for another one.")
    package static let methodNotAllowed = ProblemKind(
        .methodNotAllowed, "method_not_allowed", "Method not allowed", "Allow lists what is possible here.")
    package static let notAcceptable = ProblemKind(
        .notAcceptable, "not_acceptable", "Not available in that form",
        "None of the media types in Accept is available: the detail lists those that are.")
    package static let patchConflict = ProblemKind(
        .conflict, "patch_conflict", "Patch does not fit the state",
        "A test of the JSON Patch failed, or one of its paths does not exist. Nothing was applied.")
    package static let requestInProgress = ProblemKind(
        .conflict, "request_in_progress", "Request in progress",
        "The first request with this Idempotency-Key is still in progress: try again.")
    package static let replayExpired = ProblemKind(
        .conflict, "replay_expired", "No replay any more",
        "The first request with this Idempotency-Key was executed, and is not executed again. Its response is not shown "
            + "any more: it was too long to be kept, or has a token or a link that has been replaced or has ended.")
    package static let eventNotAccepted = ProblemKind(
        .conflict, "event_not_accepted", "Event not accepted here",
        "The journey's screen does not accept this event: accepted lists those that it does.")
    package static let guardNotMet = ProblemKind(
        .conflict, "guard_not_met", "Condition not met",
        "The screen has this event, but its condition does not hold: errors says which data it depends on.")
    package static let unreachable = ProblemKind(
        .conflict, "unreachable", "Screen cannot be reached",
        "No open way leads to that screen: screen is the first that blocks the way, errors says why.")
    package static let reloadRefused = ProblemKind(
        .conflict, "reload_refused", "Reload refused",
        "The configuration, the service files and the flow files cannot be taken over, and nothing was changed: errors has "
            + "everything that concierge check would say of them.")
    package static let commandRefused = ProblemKind(
        .conflict, "command_refused", "Command refused",
        "The service refuses the command: reason says why in a word for programs, detail in a sentence, errors has the "
            + "place in the input. Nothing was changed.")
    package static let actionFailed = ProblemKind(
        .conflict, "action_failed", "Action could not be done",
        "An action of the flow on the session's data failed: errors says where. Nothing was changed.")
    package static let taskNotClaimed = ProblemKind(
        .conflict, "task_not_claimed", "Task not claimed",
        "This worker holds no lease on the task: no attempt is in progress, or a later one is. Claim the task first.")
    package static let taskHeld = ProblemKind(
        .conflict, "task_held", "Task held",
        "A result of the task is kept until an operator ends it: with another result, or with a failure that is final.")
    package static let tooManyTasks = ProblemKind(
        .conflict, "too_many_tasks", "Too many tasks",
        "The session has reached its limit of tasks that its journeys have recorded and nobody has done yet.")
    package static let tooManyJourneys = ProblemKind(
        .conflict, "too_many_journeys", "Too many journeys",
        "The session has reached its limit of journeys: delete one that is no longer needed.")
    package static let tooManySessionsOfUser = ProblemKind(
        .conflict, "too_many_user_sessions", "Too many sessions of the user",
        "The user has reached the limit of sessions: end one of them first.")
    package static let stackFull = ProblemKind(
        .conflict, "stack_full", "Too many screens",
        "The journey's stack has reached its limit of screens: go back first.")
    package static let journeyOrphaned = ProblemKind(
        .conflict, "journey_orphaned", "Flow version gone",
        "The journey's version of its flow is no longer loaded: start it over with PUT.")
    package static let journeyNotPortable = ProblemKind(
        .conflict, "journey_not_portable", "Journey cannot move",
        "The journey's flow does not say that its journeys may move to another session: it needs \"portable\": true.")
    package static let tooManyLinks = ProblemKind(
        .conflict, "too_many_links", "Too many links",
        "The session has reached its limit of links that can still be used: wait until one has expired or was used.")
    package static let journeyMoved = ProblemKind(
        .gone, "journey_moved", "Journey moved",
        "The journey has moved to another session and goes on there.")
    package static let journeyFinished = ProblemKind(
        .gone, "journey_finished", "Journey finished",
        "The journey has reached its end: start_again says how to begin a new one.")
    package static let journeyExpired = ProblemKind(
        .gone, "journey_expired", "Journey expired",
        "The journey has expired: start_again says how to begin a new one.")
    package static let resumePointGone = ProblemKind(
        .gone, "resume_point_gone", "Resume point gone",
        "The events after Last-Event-ID are not known any more: open the stream without it, and read what is shown again."
    )
    package static let taskOver = ProblemKind(
        .gone, "task_over", "Task over",
        "The task has ended: by a result, by its time, or because its journey moved on. Nothing was changed.")
    package static let preconditionFailed = ProblemKind(
        .preconditionFailed, "precondition_failed", "Changed in the meantime",
        "The condition does not hold for the current state; ETag has its entity tag.")
    package static let bodyTooLarge = ProblemKind(
        .contentTooLarge, "body_too_large", "Body too large", "The request's body is larger than the server accepts.")
    package static let stateTooLarge = ProblemKind(
        .contentTooLarge, "state_too_large", "State too large",
        "A service's state, or all states of the session together, would be larger than the server allows.")
    package static let targetTooLong = ProblemKind(
        .uriTooLong, "target_too_long", "Target too long", "The request target is longer than the server accepts.")
    package static let unsupportedMediaType = ProblemKind(
        .unsupportedMediaType, "unsupported_media_type", "Unsupported media type",
        "The Content-Type is missing or not possible here, or the body has a Content-Encoding.")
    package static let idempotencyKeyReused = ProblemKind(
        .unprocessableContent, "idempotency_key_reused", "Idempotency-Key used twice",
        "This Idempotency-Key was used for another request before: use a new one.")
    package static let preconditionRequired = ProblemKind(
        .preconditionRequired, "precondition_required", "Condition required",
        "A write of this service, or an event of this flow, requires If-Match (or an event a step), so that no caller "
            + "changes a state that it has not seen.")
    package static let headTooLarge = ProblemKind(
        .requestHeaderFieldsTooLarge, "head_too_large", "Header too large", "The header fields are too large.")
    package static let tooManyFields = ProblemKind(
        .requestHeaderFieldsTooLarge, "too_many_fields", "Too many header fields", "There are too many header fields.")
    package static let tooManyCookies = ProblemKind(
        .requestHeaderFieldsTooLarge, "too_many_cookies", "Too many cookies", "There are too many cookies.")
    package static let tooManyArguments = ProblemKind(
        .badRequest, "too_many_arguments", "Too many arguments", "The query has too many arguments.")
    package static let quotaExceeded = ProblemKind(
        .tooManyRequests, "quota_exceeded", "Quota exceeded",
        "The client has sent more requests than its quota: RateLimit-Policy has the quota, Retry-After when to try again."
    )
    package static let malformedRequest = ProblemKind(
        .badRequest, "malformed_request", "Malformed request", "The request violates RFC 9112.")
    package static let invalidTarget = ProblemKind(
        .badRequest, "invalid_target", "Malformed target", "The request target is not well-formed.")
    package static let invalidHost = ProblemKind(
        .badRequest, "invalid_host", "Malformed Host", "Exactly one well-formed Host field is needed.")
    package static let ambiguousLength = ProblemKind(
        .badRequest, "ambiguous_length", "Ambiguous length",
        "The length of the body is missing or ambiguous.")
    package static let unknownTransferCoding = ProblemKind(
        .notImplemented, "unknown_transfer_coding", "Unknown transfer coding",
        "Only the transfer coding \"chunked\" is supported.")
    package static let internalError = ProblemKind(
        .internalServerError, "internal_error", "Internal error",
        "The server failed. The log has the details under the request id.")
    package static let endlessFlow = ProblemKind(
        .internalServerError, "endless_flow", "Flow runs in circles",
        "With the current data the flow never reaches a screen. Its definition must be corrected; nothing was changed.")
    package static let drawingFailed = ProblemKind(
        .serviceUnavailable, "drawing_failed", "Drawing failed",
        "The picture could not be drawn now; the graph is always available as Mermaid and Graphviz text.")
    package static let tooManySessions = ProblemKind(
        .serviceUnavailable, "too_many_sessions", "Too many sessions",
        "The server has reached its limit of sessions: try again later.")
    package static let contention = ProblemKind(
        .serviceUnavailable, "contention", "Too many writers",
        "Other requests changed this session at the same time: try again.")
    package static let storeUnavailable = ProblemKind(
        .serviceUnavailable, "store_unavailable", "Store unavailable",
        "The session store cannot be reached: try again later.")
    package static let dataDamaged = ProblemKind(
        .serviceUnavailable, "data_damaged", "Data damaged",
        "What is stored of the session, or of one of its services, is damaged. It is neither shown nor changed until the "
            + "operator restores or repairs the store. A service can also be replaced with PUT, cleared or removed.")
    package static let outOfMemory = ProblemKind(
        .serviceUnavailable, "out_of_memory", "Out of memory",
        "There is no memory left for the body of the request or of the response: try again later.")
    package static let stopping = ProblemKind(
        .serviceUnavailable, "stopping", "Stopping", "The server is stopping: try again, or another server.")
    package static let handlerTimeout = ProblemKind(
        .gatewayTimeout, "handler_timeout", "Response not ready in time",
        "The response was not ready in time. A write may have been done: read before you try again.")
    package static let unknownVersion = ProblemKind(
        .httpVersionNotSupported, "http_version_not_supported", "Unknown version of HTTP",
        "Only HTTP/1.1 and HTTP/1.0 are supported.")
    package static let storageFull = ProblemKind(
        .insufficientStorage, "storage_full", "Storage full",
        "The session store has no space left: it can be read, but not written.")

    /// In the order of their statuses.
    package static let all: [ProblemKind] = [
        invalidJSON, invalidInput, invalidState, invalidPatch, invalidCondition, ambiguousCredentials,
        invalidIdempotencyKey, idempotencyKeyNotPossible, notAnExport, tooManyArguments, malformedRequest,
        invalidTarget, invalidHost, ambiguousLength,
        unauthenticated, adminKeyNeeded, crossSite, foreignHost, noUser, notFound, sessionNotFound,
        serviceNotFound, commandNotFound, flowNotFound, journeyNotFound, taskNotFound, linkNotFound,
        methodNotAllowed, notAcceptable,
        patchConflict,
        requestInProgress, replayExpired, tokenReplaced, eventNotAccepted, guardNotMet, unreachable, reloadRefused,
        commandRefused,
        actionFailed,
        taskNotClaimed, taskHeld, tooManyTasks,
        tooManyJourneys,
        tooManySessionsOfUser, stackFull, journeyOrphaned, journeyNotPortable, tooManyLinks, journeyMoved,
        journeyFinished, journeyExpired, resumePointGone, taskOver,
        preconditionFailed,
        bodyTooLarge,
        stateTooLarge,
        targetTooLong,
        unsupportedMediaType, idempotencyKeyReused, preconditionRequired, quotaExceeded, headTooLarge, tooManyFields,
        tooManyCookies,
        internalError, endlessFlow, unknownTransferCoding, drawingFailed, tooManySessions, contention,
        storeUnavailable, dataDamaged, outOfMemory, stopping, handlerTimeout, unknownVersion, storageFull,
    ]
}
