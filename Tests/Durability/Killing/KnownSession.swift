/// What clients know about a session.
struct KnownSession: Sendable {
    let id: String
    var token: String
    var state: SessionState
}
