/// A session as its clients know it.
struct KnownSession: Sendable {
    let id: String
    var token: String
    var state: SessionState
}
