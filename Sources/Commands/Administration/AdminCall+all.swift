// The table of the commands for operators. A new one is a line here.
extension AdminCall {
    static let all: [AdminCall] = sessions + services + journeys + tasks + users

    private static let sessions = [
        AdminCall(
            .session, "list", "GET", "/v1/sessions",
            options: [
                user, .query("--active", nil, "active", "only those that have not expired"),
            ],
            .table(["id", "user_id", "created_at", "last_used_at", "expires_at", "labels"], isPaged: true),
            "the sessions", "--user ada"),
        AdminCall(
            .session, "show SESSION", "GET", "/v1/sessions/{SESSION}",
            .record([
                "id", "user_id", "labels", "created_at", "last_used_at", "idle_expires_at", "expires_at", "kept_until",
                "revision",
            ]), "one session", "ses_0197…"),
        AdminCall(
            .session, "end SESSION", "DELETE", "/v1/sessions/{SESSION}", .sentence("Session {SESSION} has ended."),
            asks: "End session {SESSION}, with its services and journeys?",
            "ends it, with its services and journeys", "ses_0197…"),
    ]

    private static let inSession = "/v1/sessions/{SESSION}{--journey}/services"
    private static let journey = Option(
        flag: .init(name: "--journey", value: "JOURNEY", meaning: "what that journey of the session sees"))
    private static let ifMatch = Option(
        flag: .init(name: "--if-match", value: "ETAG", meaning: "only if it is still this, as in '\"7\"'; '*' for any"),
        use: .field("If-Match"))

    private static let services = [
        AdminCall(
            .service, "list SESSION", "GET", inSession, options: [journey],
            .table(["name", "kind", "owner", "status", "etag", "updated_at", "expires_at"], isPaged: true),
            "the services of a session", "ses_0197…"),
        AdminCall(
            .service, "show SESSION NAME", "GET", "\(inSession)/{NAME}", options: [journey], .document,
            "the document of a service", "ses_0197… profile"),
        AdminCall(
            .service, "set SESSION NAME JSON|@FILE", "PUT", "\(inSession)/{NAME}",
            body: .argument("JSON|@FILE"), options: [journey, ifMatch], .document, "replaces the document",
            "ses_0197… profile @profile.json"),
        AdminCall(
            .service, "patch SESSION NAME JSON|@FILE", "PATCH", "\(inSession)/{NAME}",
            body: .argument("JSON|@FILE"), options: [journey, ifMatch], .document,
            "changes members of the document (RFC 7396)", #"ses_0197… profile '{"email": "ada@example.org"}'"#),
        AdminCall(
            .service, "clear SESSION NAME", "DELETE", "\(inSession)/{NAME}/state", options: [journey, ifMatch],
            .sentence("Service {NAME} has its default."), asks: "Set service {NAME} of {SESSION} to its default?",
            "gives the service its default again", "ses_0197… profile"),
        AdminCall(
            .service, "remove SESSION NAME", "DELETE", "\(inSession)/{NAME}", options: [journey, ifMatch],
            .sentence("Service {NAME} was removed."), asks: "Remove service {NAME} of {SESSION}?",
            "removes the instance; the next access makes a clean one", "ses_0197… profile"),
    ]

    private static let ofJourney = "/v1/sessions/{SESSION/JOURNEY}"
    private static let ofAllTasks: [Column] = ["id", "task", "status", "attempt=attempt/attempts", "last_failure"]
    private static let journeyColumns: [Column] = [
        "id", "flow", "version", "status", "screen=screen.id", "title=screen.title", "can_go_back", "outcome", "output",
        "problem=problem.detail", "started_at", "expires_at", "due_at",
        .rows("stack", ["flow", "screen", "presentation"]), .rows("events", ["name", "enabled", "why"]),
        .rows("tasks", ofAllTasks + ["next_attempt_at", "result", "problem=problem.detail"]),
        .rows("services", ["name", "owner", "etag", "state"]),
    ]

    private static let journeys = [
        AdminCall(
            .journey, "list", "GET", "/v1/journeys",
            options: [
                .query("--flow", "ID", "flow", "only of that flow; with start-over begin that flow"),
                .query("--version", "N", "version", "only of that version of the flow"),
                .query("--state", "STATE", "state", "only on the screen of that state"), status,
                user, .query("--label", "NAME:VALUE", "label", "only in sessions with that label"), olderThan,
            ],
            .table(
                ["journey=session/journey", "user_id", "flow", "version", "state", "status", "last_step_at", "due_at"],
                isPaged: true),
            "finds journeys of all sessions", "--flow checkout --status stuck --older-than 24h"),
        AdminCall(
            .journey, "list SESSION", "GET", "/v1/sessions/{SESSION}/journeys",
            .table(["id", "flow", "version", "status", "screen=screen.id", "started_at", "due_at"], isPaged: true),
            "the journeys of a session", "ses_0197…"),
        AdminCall(
            .journey, "count", "GET", "/v1/journeys/census",
            .table(["flow", "version", "state", "count"], isPaged: false), "how many journeys run, and where", ""),
        AdminCall(
            .journey, "show SESSION/JOURNEY", "GET", ofJourney, .record(journeyColumns),
            "what the person sees, with tasks and services", "ses_0197…/main"),
        AdminCall(
            .journey, "history SESSION/JOURNEY", "GET", "\(ofJourney)/history",
            .table(["time", "cause", "event", "from", "to", "who"], isPaged: false), "its last 50 steps",
            "ses_0197…/main"),
        AdminCall(
            .journey, "go SESSION/JOURNEY SCREEN", "POST", "\(ofJourney)/navigation",
            body: .members([Member(name: "to", source: "SCREEN")]), .record(["path"] + journeyColumns),
            "moves the person to a screen", "ses_0197…/main basket"),
        AdminCall(
            .journey, "start-over SESSION/JOURNEY", "PUT", ofJourney,
            body: .members([
                Member(name: "flow", source: "--flow"), Member(name: "input", source: "--input", isJSON: true),
            ]),
            options: [
                Option(flag: .init(name: "--flow", value: "ID", meaning: "another flow")),
                Option(flag: .init(name: "--input", value: "JSON", meaning: "another input than before")),
            ], .record(journeyColumns), asks: "Start {SESSION/JOURNEY} over, and give up where it stands?",
            "releases its stack and begins anew", "ses_0197…/main"),
        AdminCall(
            .journey, "end SESSION/JOURNEY", "DELETE", ofJourney,
            .sentence("Journey {SESSION/JOURNEY} has ended."), asks: "End journey {SESSION/JOURNEY}?",
            "abandons it", "ses_0197…/main"),
    ]

    private static let tasks = [
        AdminCall(
            .task, "list", "GET", "/v1/tasks",
            options: [
                .query("--task", "NAME", "task", "only of that name"), status,
                .query("--session", "ID", "session_id", "only of that session"), user, olderThan,
            ], .table(ofAllTasks + ["created_at", "next_attempt_at", "lease_expires_at"], isPaged: true),
            "the tasks that are not over", "--status held"),
        AdminCall(
            .task, "show TASK", "GET", "/v1/tasks?session_id={SESSION}",
            .itemOfList(
                ofAllTasks.dropLast() + [
                    "journey=session/journey", "user_id", "created_at", "lease_expires_at", "next_attempt_at",
                    "last_failure", "result", "problem=problem.detail", .rows("problem.errors", ["pointer", "detail"]),
                ]), "one task, with the result that is held and why", "tsk-0197…-main-7"),
        AdminCall(
            .task, "retry TASK", "POST", "/v1/tasks/{TASK}/retry",
            .sentence("Task {TASK} is due now; a result that was held has been taken."),
            "the next attempt may begin now; a held result is tried again", "tsk-0197…-main-7"),
        AdminCall(
            .task, "finish TASK", "POST", "/v1/tasks/{TASK}/result",
            body: .members([
                Member(name: "outcome", source: "--outcome"), Member(name: "output", source: "--output", isJSON: true),
            ]),
            options: [
                Option(flag: .init(name: "--outcome", value: "NAME", meaning: "what has come of it"), isNeeded: true),
                Option(flag: .init(name: "--output", value: "JSON", meaning: "the data of the result")),
            ], .sentence("Task {TASK} is over."), asks: "End task {TASK} with this result?",
            "ends it with a result, as its back end would", #"tsk-0197…-main-7 --outcome paid --output '{"id": 7}'"#),
        AdminCall(
            .task, "fail TASK", "POST", "/v1/tasks/{TASK}/failure",
            body: .members([
                Member(name: "reason", source: "--reason"), Member(name: "final", source: "true", isJSON: true),
            ]),
            options: [
                Option(flag: .init(name: "--reason", value: "TEXT", meaning: "why it was not done"), isNeeded: true)
            ], .sentence("Task {TASK} has failed for good."), asks: "End task {TASK} as failed?",
            "ends it as failed, whatever attempts are left", "tsk-0197…-main-7 --reason 'the order was cancelled'"),
    ]

    private static let ofUser = "/v1/users?user_id={USER}"

    private static let users = [
        AdminCall(
            .user, "show USER", "GET", ofUser, .document, "everything that there is of a person, as JSON", "ada"),
        AdminCall(
            .user, "end-sessions USER", "DELETE", "/v1/sessions?user_id={USER}", .record(["count"]),
            asks: "End all sessions of user {USER}?", "ends all sessions of a user", "ada"),
        AdminCall(
            .user, "erase USER", "DELETE", ofUser, .record(["sessions", "journeys", "tasks", "notices"]),
            asks: "Erase everything that there is of user {USER}?", "erases a person", "ada"),
    ]

    private static let user = Option.query("--user", "ID", "user_id", "only of that user")
    private static let status = Option.query("--status", "STATUS", "status", "only in that status")
    private static let olderThan = Option.query(
        "--older-than", "TIME", "older_than", "only those that stand for longer, as in 90s, 24h, 7d")
}
