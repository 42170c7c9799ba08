import API

extension AdminSessionEndpoints {
    static let operations: [APIOperation] = [
        APIOperation(
            method: .get, path: "/v1/sessions", id: "listSessions", summary: "Sessions, oldest first",
            parameters: [.userID, .active, .limit, .cursor],
            responses: [.json("A page of sessions.", "SessionList")], problems: [.invalidInput]),
        APIOperation(
            method: .delete, path: "/v1/sessions", id: "endAllSessions", summary: "Ends all sessions, of all users",
            responses: [.json("How many were ended.", "Count")], problems: [.storageFull]),
        APIOperation(
            method: .get, path: "/v1/sessions/{session}", id: "getSession", summary: "The session",
            responses: [.json("The session.", "Session")]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}", id: "endSession", summary: "Ends the session",
            responses: [.done("Ended.")], problems: [.storageFull]),
        APIOperation(
            method: .put, path: "/v1/sessions/{session}/user", id: "signIn",
            summary: "Attaches a user and gives the session a new token; the old one ends at once",
            body: .json("SignIn"), responses: [.json("The session and its new token.", "SignedIn")],
            problems: [.invalidState, .tooManySessionsOfUser, .contention, .storageFull]),
        APIOperation(
            method: .delete, path: "/v1/sessions/{session}/user", id: "signOut",
            summary: "Detaches the user and removes the services that are bound to a user",
            responses: [.done("Signed out, or no user was signed in.")], problems: [.contention, .storageFull]),
        APIOperation(
            method: .get, path: "/v1/users/{user}/sessions", id: "listUserSessions", summary: "The sessions of a user",
            parameters: [.limit, .cursor], responses: [.json("A page of sessions.", "SessionList")],
            problems: [.invalidInput]),
        APIOperation(
            method: .delete, path: "/v1/users/{user}/sessions", id: "endUserSessions",
            summary: "Ends the sessions of a user", responses: [.json("How many were ended.", "Count")],
            problems: [.storageFull]),
    ]
}
