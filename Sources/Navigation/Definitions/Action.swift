/// A change of the session's services.
public enum Action: Sendable {
    /// An operation of a JSON Patch (RFC 6902).
    case patch(PatchOperation)
    /// The service is its default again.
    case clear(service: String)
    /// The instance leaves the session; the next access makes a clean one.
    case remove(service: String)
}
