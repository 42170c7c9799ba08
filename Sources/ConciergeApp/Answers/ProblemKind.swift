import HTTPServer

/// A kind of error: what `type` of a problem names, and `GET /problems/{code}` explains.
package struct ProblemKind: Sendable {
    /// Stable, for programs.
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

    package static func named(_ code: String) -> ProblemKind? { byCode[code] }

    private static let byCode = Dictionary(uniqueKeysWithValues: all.map { ($0.code, $0) })
}

// The table. A new kind is a constant and its place in `all`.
extension ProblemKind {
    static let invalidJSON = ProblemKind(
        .badRequest, "invalid_json", "Not JSON",
        "The body is not JSON as RFC 8259 and RFC 7493 want it: the detail says where it breaks.")
    static let invalidInput = ProblemKind(
        .badRequest, "invalid_input", "Invalid input",
        "Something in the request does not have the form it must have: errors says what and where.")
    static let invalidState = ProblemKind(
        .badRequest, "invalid_state", "State does not fit its schema",
        "The service's state would no longer fit its schema: errors has one entry for each violation.")
    static let invalidPatch = ProblemKind(
        .badRequest, "invalid_patch", "Patch cannot be used",
        "The body is not a JSON Patch as RFC 6902 defines it, or its result would be nested more than 64 levels deep.")
    static let invalidCondition = ProblemKind(
        .badRequest, "invalid_condition", "Malformed condition",
        "If-Match or If-None-Match is not a list of entity tags, or not one that is possible here.")
    static let ambiguousCredentials = ProblemKind(
        .badRequest, "ambiguous_credentials", "More than one credential",
        "A request names its session once: one Authorization field or one session cookie.")
    static let invalidIdempotencyKey = ProblemKind(
        .badRequest, "invalid_idempotency_key", "Malformed Idempotency-Key",
        "Idempotency-Key is one text of 1 to 255 visible characters.")
    static let idempotencyKeyNotPossible = ProblemKind(
        .badRequest, "idempotency_key_not_possible", "No Idempotency-Key here",
        "What is exported is too much to be remembered: ask for it without an Idempotency-Key. It changes nothing.")
    static let notAnExport = ProblemKind(
        .badRequest, "not_an_export", "Not an export",
        "The body does not begin as an export that this version can read: errors says why.")
    static let unauthenticated = ProblemKind(
        .unauthorized, "unauthenticated", "Not authenticated", "A valid session token is needed.")
    static let adminKeyNeeded = ProblemKind(
        .unauthorized, "admin_key_needed", "Admin key needed",
        "The admin listener wants its key, in X-Admin-Key or as a bearer token.")
    static let crossSite = ProblemKind(
        .forbidden, "cross_site_request", "Request from another site",
        "With a session cookie, what changes something must come from the same site or an origin that is allowed.")
    static let foreignHost = ProblemKind(
        .forbidden, "foreign_host", "Not addressed to this machine",
        "Without a key, the admin listener answers only to the names of the loopback interface.")
    static let noUser = ProblemKind(
        .forbidden, "no_user", "No user attached",
        "Only a session that a user is attached to can see or end that user's sessions.")
    static let notFound = ProblemKind(.notFound, "not_found", "Not found", "There is nothing at this path.")
    static let sessionNotFound = ProblemKind(
        .notFound, "session_not_found", "No such session", "There is no session of that id for this caller.")
    static let serviceNotFound = ProblemKind(
        .notFound, "service_not_found", "No such service", "No service of that name is registered.")
    static let flowNotFound = ProblemKind(
        .notFound, "flow_not_found", "No such flow", "No flow of that id and version is loaded.")
    static let journeyNotFound = ProblemKind(
        .notFound, "journey_not_found", "No such journey", "The session has no journey of that id.")
    static let methodNotAllowed = ProblemKind(
        .methodNotAllowed, "method_not_allowed", "Method not allowed", "Allow lists what is possible here.")
    static let notAcceptable = ProblemKind(
        .notAcceptable, "not_acceptable", "Not to be had in that form",
        "There is nothing here of the media types that Accept names: the detail says what there is.")
    static let patchConflict = ProblemKind(
        .conflict, "patch_conflict", "Patch does not fit the state",
        "A test of the JSON Patch failed, or a path of it is not there. Nothing was applied.")
    static let requestInProgress = ProblemKind(
        .conflict, "request_in_progress", "Still being worked on",
        "The first request with this Idempotency-Key is not answered yet: ask again.")
    static let eventNotAccepted = ProblemKind(
        .conflict, "event_not_accepted", "Event not accepted here",
        "Nothing on the journey's screen waits for this event: accepted has the names of those that would do.")
    static let guardNotMet = ProblemKind(
        .conflict, "guard_not_met", "Not possible as things are",
        "The event is known here, but a condition does not hold: errors says which data it is about.")
    static let unreachable = ProblemKind(
        .conflict, "unreachable", "Screen cannot be reached",
        "No way that may be taken now leads to that screen: screen is the first that blocks, errors says why.")
    static let actionFailed = ProblemKind(
        .conflict, "action_failed", "Action could not be done",
        "What the flow does to the session's data on this way could not be done: errors says where. Nothing happened.")
    static let tooManyJourneys = ProblemKind(
        .conflict, "too_many_journeys", "Too many journeys",
        "The session has as many journeys as it may have: delete one that is over or no longer needed.")
    static let stackFull = ProblemKind(
        .conflict, "stack_full", "Too many screens",
        "There are as many screens on the journey's stack as there may be: go back first.")
    static let journeyOrphaned = ProblemKind(
        .conflict, "journey_orphaned", "Flow version gone",
        "The journey is on a version of its flow that is not loaded any more: start it over with PUT.")
    static let journeyFinished = ProblemKind(
        .gone, "journey_finished", "Journey finished",
        "The journey has come to its end and goes nowhere any more: start_again says how to begin a new one.")
    static let journeyExpired = ProblemKind(
        .gone, "journey_expired", "Journey expired",
        "The journey's time is over: start_again says how to begin a new one.")
    static let preconditionFailed = ProblemKind(
        .preconditionFailed, "precondition_failed", "Changed in the meantime",
        "The state is not the one that the condition names; ETag has the current one.")
    static let bodyTooLarge = ProblemKind(
        .contentTooLarge, "body_too_large", "Body too large", "The request's body is larger than the server takes.")
    static let stateTooLarge = ProblemKind(
        .contentTooLarge, "state_too_large", "State too large", "A service's state is larger than the server keeps.")
    static let targetTooLong = ProblemKind(
        .uriTooLong, "target_too_long", "Target too long", "The request target is longer than the server takes.")
    static let unsupportedMediaType = ProblemKind(
        .unsupportedMediaType, "unsupported_media_type", "Unsupported media type",
        "The Content-Type is missing or not possible here, or the body has a Content-Encoding.")
    static let idempotencyKeyReused = ProblemKind(
        .unprocessableContent, "idempotency_key_reused", "Idempotency-Key used twice",
        "This Idempotency-Key was used for another request before: take a fresh one.")
    static let preconditionRequired = ProblemKind(
        .preconditionRequired, "precondition_required", "Condition required",
        "This service is only written with If-Match, so that nobody overwrites what they have not seen.")
    static let headTooLarge = ProblemKind(
        .requestHeaderFieldsTooLarge, "head_too_large", "Header too large", "The header fields are too large.")
    static let tooManyFields = ProblemKind(
        .requestHeaderFieldsTooLarge, "too_many_fields", "Too many header fields", "There are too many header fields.")
    static let tooManyCookies = ProblemKind(
        .requestHeaderFieldsTooLarge, "too_many_cookies", "Too many cookies", "There are too many cookies.")
    static let tooManyArguments = ProblemKind(
        .badRequest, "too_many_arguments", "Too many arguments", "The query has too many arguments.")
    static let malformedRequest = ProblemKind(
        .badRequest, "malformed_request", "Malformed request", "The request breaks the rules of RFC 9112.")
    static let invalidTarget = ProblemKind(
        .badRequest, "invalid_target", "Malformed target", "The request target is not well-formed.")
    static let invalidHost = ProblemKind(
        .badRequest, "invalid_host", "Malformed Host", "Exactly one well-formed Host field is needed.")
    static let ambiguousLength = ProblemKind(
        .badRequest, "ambiguous_length", "Ambiguous length",
        "Where the body ends is not said, or said in more than one way.")
    static let unknownTransferCoding = ProblemKind(
        .notImplemented, "unknown_transfer_coding", "Unknown transfer coding",
        "Only the transfer coding \"chunked\" is known.")
    static let internalError = ProblemKind(
        .internalServerError, "internal_error", "Internal error",
        "Something went wrong here. The log has its story under the request id.")
    static let endlessFlow = ProblemKind(
        .internalServerError, "endless_flow", "Flow goes round in circles",
        "With the data as it is the flow never comes to a screen. Its definition has to be mended; nothing happened.")
    static let drawingFailed = ProblemKind(
        .serviceUnavailable, "drawing_failed", "Could not be drawn",
        "The picture could not be drawn just now; as Mermaid and Graphviz text the graph is always there.")
    static let tooManySessions = ProblemKind(
        .serviceUnavailable, "too_many_sessions", "Too many sessions",
        "There are as many sessions as there may be: try again later.")
    static let contention = ProblemKind(
        .serviceUnavailable, "contention", "Too many writers",
        "Others keep changing this session at the same time: try again.")
    static let storeUnavailable = ProblemKind(
        .serviceUnavailable, "store_unavailable", "Store unavailable",
        "The store of the sessions cannot be reached: try again later.")
    static let outOfMemory = ProblemKind(
        .serviceUnavailable, "out_of_memory", "Out of memory", "There is no memory left for the request's body.")
    static let stopping = ProblemKind(
        .serviceUnavailable, "stopping", "Stopping", "The server is stopping: try another one, or again.")
    static let handlerTimeout = ProblemKind(
        .gatewayTimeout, "handler_timeout", "Took too long",
        "The response was not ready in time. A write may have been done: read before you try again.")
    static let unknownVersion = ProblemKind(
        .httpVersionNotSupported, "http_version_not_supported", "Unknown version of HTTP",
        "Only HTTP/1.1 and HTTP/1.0 are known.")
    static let storageFull = ProblemKind(
        .insufficientStorage, "storage_full", "Storage full",
        "The store of the sessions has no room left: reading goes on, writing does not.")

    /// In the order of their statuses.
    package static let all: [ProblemKind] = [
        invalidJSON, invalidInput, invalidState, invalidPatch, invalidCondition, ambiguousCredentials,
        invalidIdempotencyKey, idempotencyKeyNotPossible, notAnExport, tooManyArguments, malformedRequest,
        invalidTarget, invalidHost, ambiguousLength,
        unauthenticated, adminKeyNeeded, crossSite, foreignHost, noUser, notFound, sessionNotFound,
        serviceNotFound, flowNotFound, journeyNotFound, methodNotAllowed, notAcceptable, patchConflict,
        requestInProgress, eventNotAccepted, guardNotMet, unreachable, actionFailed, tooManyJourneys, stackFull,
        journeyOrphaned, journeyFinished, journeyExpired, preconditionFailed, bodyTooLarge, stateTooLarge,
        targetTooLong,
        unsupportedMediaType, idempotencyKeyReused, preconditionRequired, headTooLarge, tooManyFields, tooManyCookies,
        internalError, endlessFlow, unknownTransferCoding, drawingFailed, tooManySessions, contention,
        storeUnavailable, outOfMemory, stopping, handlerTimeout, unknownVersion, storageFull,
    ]
}
