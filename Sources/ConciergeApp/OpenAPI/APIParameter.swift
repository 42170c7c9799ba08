import JSONDocument

/// A parameter of an operation. Its raw value is the name on the wire and among the components.
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
    // In header fields.
    case ifMatch = "If-Match"
    case ifNoneMatch = "If-None-Match"
    case prefer = "Prefer"
    case idempotencyKey = "Idempotency-Key"
    case requestID = "Request-Id"

    private var place: String {
        switch self {
        case .session, .name, .user, .code, .id, .flow, .version: "path"
        case .limit, .cursor, .userID, .active, .after, .onConflict, .dryRun: "query"
        case .ifMatch, .ifNoneMatch, .prefer, .idempotencyKey, .requestID: "header"
        }
    }

    func description(on listener: APIListener) -> String {
        switch self {
        case .session where listener == .public: "`current`, or the caller's own session id."
        case .session: "A session id."
        case .name: "The name of a service, such as `profile`."
        case .user: "The id of a user, as it was attached."
        case .code: "The `code` of a problem."
        case .id: "The id of a journey: `main`, or as it was given when the journey was started."
        case .flow: "The id of a flow."
        case .version: "A version of the flow."
        case .limit: "The most items to answer with."
        case .cursor: "`next` of the page before."
        case .userID: "Only the sessions that this user is attached to."
        case .active: "`true` for sessions that have not ended, `false` for others; all when left out."
        case .after: "The `cursor` of the last session that arrived: goes on behind it."
        case .onConflict: "What is done with a session that is here already: it stays, or what comes takes its place."
        case .dryRun: "`true` to look at everything and change nothing."
        case .ifMatch: "Only when the state is still one of these entity tags; else 412."
        case .ifNoneMatch:
            "On a read: 304 when it is one of these entity tags. On a write only `*`: when nothing was written yet, "
                + "else 412."
        case .prefer: "`return=minimal` leaves the body out of a 200, which becomes a 204."
        case .idempotencyKey:
            "Makes the request safe to send again: the first answer is given again, marked "
                + "`Idempotency-Replayed: true`. A key that cannot be guessed, a new one for each request."
        case .requestID: "Names the request in the answer and in the log; else the server makes a name."
        }
    }

    private func schema(on listener: APIListener) -> JSONDocument {
        switch self {
        case .session where listener == .public:
            ["type": "string", "pattern": "^(current|ses_[0-9a-f]{32})$", "examples": ["current"]]
        case .session: ["type": "string", "pattern": "^ses_[0-9a-f]{32}$"]
        case .name: ["type": "string", "pattern": "^[a-z0-9-]{1,64}$", "examples": ["profile"]]
        case .code: ["type": "string", "examples": ["invalid_input"]]
        case .id: ["type": "string", "minLength": 1, "examples": ["main"]]
        case .flow: ["type": "string", "minLength": 1, "examples": ["wizard"]]
        case .version: ["type": "integer", "minimum": 1]
        case .user: ["type": "string", "minLength": 1]
        case .limit: ["type": "integer", "minimum": 1, "maximum": 100, "default": 50]
        case .active, .dryRun: ["type": "boolean"]
        case .onConflict: ["type": "string", "enum": ["skip", "replace"], "default": "skip"]
        case .ifMatch, .ifNoneMatch:
            // RFC 9110, 8.8.3 and 13.1: entity tags with commas between them, or a star.
            [
                "type": "string", "pattern": #"^(\*|(W/)?"[!#-~]*"( *, *(W/)?"[!#-~]*")*)$"#,
                "examples": [#""7""#, "*"],
            ]
        case .prefer: ["type": "string", "examples": ["return=minimal"]]
        case .idempotencyKey: ["type": "string", "minLength": 1, "maxLength": 255, "pattern": "^[!-~]+$"]
        case .requestID: ["type": "string", "pattern": "^[A-Za-z0-9._-]{1,128}$"]
        case .cursor, .userID, .after: ["type": "string"]
        }
    }

    func write(to json: inout JSONWriter, on listener: APIListener) {
        json.beginObject()
        json.member("name", rawValue)
        json.member("in", place)
        json.member("description", description(on: listener))
        if place == "path" {
            json.name("required")
            json.bool(true)
        }
        json.name("schema")
        json.document(schema(on: listener))
        json.endObject()
    }
}
