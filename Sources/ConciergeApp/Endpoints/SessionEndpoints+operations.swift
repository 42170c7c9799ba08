import API

extension SessionEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .post, path: "/v1/sessions", id: "createSession",
            summary: "Creates a session with its own empty service locator", access: .anyone,
            parameters: [.idempotencyKey], body: .json("NewSession", isRequired: false),
            responses: [
                .json(
                    "The session, and in bearer mode its token.", "CreatedSession", status: .created,
                    headers: [.location, .setCookie, .idempotencyReplayed])
            ],
            problems: [.invalidState, .tooManySessions, .storeUnavailable, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/sessions", id: "listOwnSessions", summary: "The sessions of the caller's user",
            parameters: [.limit, .cursor], responses: [.json("A page of sessions.", "SessionList")],
            problems: [.invalidInput, .noUser]),
        APIOperation(
            method: .delete, path: "/v1/sessions", id: "endOtherSessions",
            summary: "Ends all other sessions of the caller's user",
            responses: [.json("How many were ended.", "Count")], problems: [.noUser, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/sessions/{session}", id: "getSession", summary: "The session",
            responses: [.json("The session.", "Session")]),
        APIOperation(
            method: .patch, path: "/v1/sessions/{session}", id: "updateSession",
            summary: "Changes the session's labels",
            parameters: [.prefer],
            body: APIBody([
                (MediaType.mergePatch, "SessionPatch"), (MediaType.json, "SessionPatch"),
            ]),
            responses: [.json("The session.", "Session"), .minimal],
            problems: [.invalidState, .contention, .storageFull]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}", id: "endSession",
            summary: "Ends the session, or another one of the same user: its services are removed, and its token ends",
            responses: [.done("Ended.", headers: [.setCookie, .clearSiteData])], problems: [.storageFull]),
        APIOperation(
            method: .post, path: "/v1/sessions/{session}/tokens", id: "rotateToken",
            summary: "A new token. The old one works for a short grace time; using it later ends the session",
            parameters: [.idempotencyKey],
            responses: [
                .json(
                    "The token; in cookie mode it is in Set-Cookie only.", "NewToken", status: .created,
                    headers: [.setCookie, .idempotencyReplayed])
            ],
            problems: [.tokenReplaced, .contention, .storageFull]),
    ]
}
