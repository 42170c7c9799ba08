/// A parameter of an operation. Its raw value is its name on the wire and among the ``APIComponents``.
package enum APIParameter: String, Sendable, CaseIterable {
    // In paths.
    case session, name, user, code, id, flow
    case version = "n"
    // In queries.
    case limit, cursor
    case userID = "user_id"
    case active
    case after
    case onConflict = "on_conflict"
    case dryRun = "dry_run"
    case task, status
    case sessionID = "session_id"
    case olderThan = "older_than"
    case include, of
    // In header fields.
    case ifMatch = "If-Match"
    case ifNoneMatch = "If-None-Match"
    case prefer = "Prefer"
    case idempotencyKey = "Idempotency-Key"
    case acceptLanguage = "Accept-Language"
    case lastEventID = "Last-Event-ID"
    case requestID = "Request-Id"

    package var isInQuery: Bool {
        switch self {
        case .limit, .cursor, .userID, .active, .after, .onConflict, .dryRun, .task, .status, .sessionID,
            .olderThan, .include, .of:
            true
        default: false
        }
    }

    /// A parameter whose schema is another one in some operations. The raw value is its name among the components.
    enum Form: String, CaseIterable {
        /// ``session`` without a default: openapi-python-client puts the other parameters of the path after it, which
        /// Python forbids after one with a default.
        case sessionBeforeOthers = "session-before-others"
        /// ``id`` of a task.
        case taskID = "task-id"
        /// ``userID`` where the query has to name a person.
        case personID = "person-id"
        /// ``idempotencyKey`` of a caller without a token.
        case secretKey = "Idempotency-Key-of-new-session"
    }
}

/// A field of a response. Its raw value is its name, also among the components.
package enum APIHeader: String, Sendable, CaseIterable {
    case requestID = "Request-Id"
    case etag = "ETag"
    case clearSiteData = "Clear-Site-Data"
    case vary = "Vary"
    case contentLanguage = "Content-Language"
    case location = "Location"
    case setCookie = "Set-Cookie"
    case preferenceApplied = "Preference-Applied"
    case idempotencyReplayed = "Idempotency-Replayed"
    case retryAfter = "Retry-After"
    case rateLimit = "RateLimit"
    case rateLimitPolicy = "RateLimit-Policy"
    case wwwAuthenticate = "WWW-Authenticate"
    case allow = "Allow"
    case acceptPatch = "Accept-Patch"
    case acceptEncoding = "Accept-Encoding"
}

/// A schema of the description, by its name among the components.
///
/// An operation names it by a literal. A test fails for a name that ``APIComponents`` do not have, and for a schema
/// that no operation needs.
package struct APISchema: Hashable, Sendable, ExpressibleByStringLiteral {
    package let name: String

    package init(stringLiteral name: String) { self.name = name }

    // Each stands for a schema that every service, or every command, has of its own.
    package static let serviceState: APISchema = "ServiceState"
    package static let servicePatch: APISchema = "ServicePatch"
    package static let commandInput: APISchema = "CommandInput"
    package static let commandOutput: APISchema = "CommandOutput"
    package static let ofEachService = [serviceState, servicePatch, commandInput, commandOutput]

    // The loaded flows have narrower ones.
    package static let journeyStart: APISchema = "JourneyStart"
    package static let journeyEvent: APISchema = "JourneyEvent"

    package static let problem: APISchema = "Problem"

    var isOfEachService: Bool { Self.ofEachService.contains(self) }
}
