import JSONDocument

/// A parameter of an operation. Its raw value is its name on the wire and among the components.
enum APIParameter: String, Sendable, CaseIterable {
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
    case include
    // In header fields.
    case ifMatch = "If-Match"
    case ifNoneMatch = "If-None-Match"
    case prefer = "Prefer"
    case idempotencyKey = "Idempotency-Key"
    case acceptLanguage = "Accept-Language"
    case lastEventID = "Last-Event-ID"
    case requestID = "Request-Id"

    private var place: String {
        switch self {
        case .session, .name, .user, .code, .id, .flow, .version: "path"
        case .limit, .cursor, .userID, .active, .after, .onConflict, .dryRun, .task, .status, .include: "query"
        case .ifMatch, .ifNoneMatch, .prefer, .idempotencyKey, .acceptLanguage, .lastEventID, .requestID: "header"
        }
    }

    var isInQuery: Bool { place == "query" }

    func description(on listener: APIListener) -> String {
        switch self {
        case .session where listener == .public: "`current`, or the caller's own session id."
        case .session: "A session id."
        case .name: "The name of a service, such as `profile`."
        case .user: "The id of a user, as given at sign-in. A path cannot name one with slashes or control characters."
        case .code: "The `code` of a problem."
        case .id: "The id of a journey: `main`, or the one that its start gave. Below `/v1/tasks`, that of a task."
        case .flow: "The id of a flow."
        case .version: "A version of the flow."
        case .limit: "The most items of a page."
        case .cursor: "`next` of the previous page."
        case .userID: "Only the sessions that this user is attached to."
        case .active: "`true` for sessions that have not ended, `false` for the others; default: all."
        case .after: "The `cursor` of the last session that arrived: the export continues after it."
        case .onConflict: "What happens to a session that exists already: `skip` keeps it, `replace` replaces it."
        case .dryRun: "`true` to check everything and change nothing."
        case .task: "Only tasks of this name."
        case .status: "Only tasks that wait to be handed out, or only those that were and whose lease runs."
        case .include: "`schema` adds to each event the `schema` that its data must have."
        case .acceptLanguage:
            "The languages of texts, where the flow has several. The first language of the flow when it has none of these."
        case .ifMatch: "The request is done only if the current entity tag is one of these; otherwise 412."
        case .ifNoneMatch:
            "On a read: 304 if the current entity tag is one of these. On a write: done only if it is none of these, or with "
                + "`*` if nothing was written yet; otherwise 412."
        case .prefer:
            "On a write: `return=minimal` leaves out the body, and 200 becomes 204. On a read with If-None-Match: `wait=30` waits "
                + "so many seconds, at most 60, until the entity tag is none of these; 304 if it still is."
        case .idempotencyKey:
            "Makes the request safe to send again: the first response is replayed, marked `Idempotency-Replayed: true`. "
                + "Use a new key that cannot be guessed for each request; without a token, of at least "
                + "\(SessionCaller.leastKeyLength) characters. The quotes may be left out."
        case .lastEventID: "The `id` of the last event that the client has seen: the stream continues after it."
        case .requestID:
            "Names the request in the response and in the log. The server chooses a name if there is none or it is unusable: "
                + "1 to 128 letters, digits, dots, underscores and hyphens can be used."
        }
    }

    private func schema(on listener: APIListener, _ form: Form?) -> JSONDocument {
        switch self {
        case .id where form == .taskID: ["type": "string", "pattern": JSONDocument(Self.taskIDPattern)]
        case .idempotencyKey where form == .secretKey: Self.key(ofAtLeast: SessionCaller.leastKeyLength)
        case .session where listener == .public:
            ["type": "string", "pattern": "^(current|ses_[0-9a-f]{32})$", "default": "current"]
        case .session: ["type": "string", "pattern": "^ses_[0-9a-f]{32}$"]
        case .name: ["type": "string", "pattern": "^[a-z0-9-]{1,64}$", "examples": ["profile"]]
        case .code: ["type": "string", "pattern": "^[a-z0-9_]+$", "examples": ["invalid_input"]]
        case .id: ["type": "string", "pattern": "^(main|jrn_[0-9a-f]{32})$", "examples": ["main"]]
        case .flow: ["type": "string", "pattern": "^[A-Za-z0-9_.-]{1,64}$", "examples": ["wizard"]]
        case .version: ["type": "integer", "minimum": 1]
        case .user: ["type": "string", "pattern": #"^[^\x00-\x1f\x7f/]+$"#]
        case .limit: ["type": "integer", "minimum": 1, "maximum": 100, "default": 50]
        case .active, .dryRun: ["type": "boolean"]
        case .onConflict: ["type": "string", "enum": ["skip", "replace"], "default": "skip"]
        case .include: ["type": "string", "enum": ["schema"]]
        case .acceptLanguage: ["type": "string", "examples": ["de-AT, en;q=0.5"]]
        case .ifMatch, .ifNoneMatch:
            // RFC 9110, 8.8.3 and 13.1: entity tags separated by commas, or a star.
            [
                "type": "string", "pattern": #"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#,
                "examples": [#""7""#, "*"],
            ]
        case .prefer: ["type": "string", "examples": ["return=minimal", "wait=30"]]
        case .idempotencyKey: Self.key(ofAtLeast: 1)
        case .cursor, .after: ["type": "string", "minLength": 1]
        case .status: ["type": "string", "enum": ["waiting", "claimed"]]
        case .lastEventID: ["type": "string", "pattern": "^[0-9]*$"]
        case .userID, .requestID, .task: ["type": "string"]
        }
    }

    /// A string of RFC 9651, section 3.3.3, without spaces; or the same without quotes and without commas.
    private static func key(ofAtLeast length: Int) -> JSONDocument {
        let pattern =
            #"^("([!#-\[\]-~]|\\["\\]){"# + "\(length),255" + #"}"|[!#-+\--~]{"# + "\(length),255" + "})$"
        return [
            "type": "string", "pattern": JSONDocument(pattern),
            "examples": [#""8e03978e-40d5-43dd-bc93-6894a57f9324""#],
        ]
    }

    static let taskIDPattern = "^tsk-[0-9a-f]{32}-(main|[0-9a-f]{32})-[0-9]+$"

    /// A parameter whose schema is another one in some operations. The raw value is its name among the components.
    enum Form: String, CaseIterable {
        /// ``session`` without a default: openapi-python-client puts the other parameters of the path after it, which
        /// Python forbids after one with a default.
        case sessionBeforeOthers = "session-before-others"
        /// ``id`` of a task.
        case taskID = "task-id"
        /// ``idempotencyKey`` of a caller without a token.
        case secretKey = "Idempotency-Key-of-new-session"

        var parameter: APIParameter {
            switch self {
            case .sessionBeforeOthers: .session
            case .taskID: .id
            case .secretKey: .idempotencyKey
            }
        }
    }

    func write(to json: inout JSONWriter, on listener: APIListener, as form: Form? = nil) {
        json.beginObject()
        json.member("name", rawValue)
        json.member("in", place)
        json.member("description", description(on: listener))
        if place == "path" {
            json.name("required")
            json.bool(true)
        }
        json.name("schema")
        let members = schema(on: listener, form).members ?? []
        json.document(JSONDocument(members: members.filter { form != .sessionBeforeOthers || $0.name != "default" }))
        json.endObject()
    }
}

/// A field of a response. Its raw value is its name, also among the components.
enum APIHeader: String, Sendable, CaseIterable {
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

    private var description: String {
        switch self {
        case .requestID: "The client's name for the request if it sent a usable one, otherwise the server's."
        case .etag:
            "The version. Of a service: the session's revision at its last write, `\"0\"` if it was never written. Of a "
                + "journey: what it shows, and in which language if there are several. Of a flow or its graph: a digest of the bytes."
        case .clearSiteData: "In cookie mode: browsers forget what pages of this origin have stored."
        case .vary: "`Accept`: the media type is negotiated. `Accept-Language`: the language of texts is."
        case .contentLanguage: "The language of texts, where the flow has several."
        case .location: "The path of what was created."
        case .setCookie: "The session cookie, in cookie mode."
        case .preferenceApplied: "The preference that was applied."
        case .idempotencyReplayed: "`true` if this response is a replay."
        case .retryAfter: "Seconds to wait before trying again."
        case .rateLimit: "What is left of a quota (r), and the seconds until it is whole again (t)."
        case .rateLimitPolicy: "A quota: so many requests (q) in so many seconds (w)."
        case .wwwAuthenticate: "`Bearer`."
        case .allow: "The methods that are allowed here."
        case .acceptPatch: "The media types that PATCH accepts."
        case .acceptEncoding: "`identity`, when the body had a `Content-Encoding`."
        }
    }

    func write(to json: inout JSONWriter) {
        json.beginObject()
        json.member("description", description)
        json.name("schema")
        json.document(["type": self == .retryAfter ? "integer" : "string"])
        json.endObject()
    }
}
