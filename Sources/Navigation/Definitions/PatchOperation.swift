import JSONDocument

/// One operation of RFC 6902 over the services, each of which is a member of one great document.
public struct PatchOperation: Sendable {
    public let kind: Kind
    /// Begins with a service.
    public let path: DataPath
    /// Of `move` and `copy`; begins with a service, not necessarily the same.
    public let from: DataPath?
    /// Of `add`, `replace` and `test`.
    public let value: ValueTemplate?
    /// The operation as a patch of its service, when it is the same whatever the data.
    let ready: JSONDocument?

    public enum Kind: String, Sendable, CaseIterable {
        case add, remove, replace, move, copy, test
    }
}
