import JSONDocument

/// One operation of RFC 6902 over the services, each of which is a member of one great document.
public struct PatchOperation: Sendable {
    /// Which operation of RFC 6902 it is.
    public let kind: Kind
    /// Begins with a service.
    public let path: DataPath
    /// Of `move` and `copy`; begins with a service, not necessarily the same.
    public let from: DataPath?
    /// Of `add`, `replace` and `test`.
    public let value: ValueTemplate?
    /// The path within the service, as a patch has it.
    let pointerText: String
    /// The operation as a patch of its service, when it is the same whatever the data.
    let ready: JSONDocument?

    /// The operations of RFC 6902, by their names.
    public enum Kind: String, Sendable, CaseIterable {
        case add, remove, replace, move, copy, test
    }

    init(kind: Kind, path: DataPath, from: DataPath?, value: ValueTemplate?) {
        self.kind = kind
        self.path = path
        self.from = from
        self.value = value
        pointerText = path.pointer.description
        ready =
            switch (from, value) {
            case (nil, nil): Self.patch(kind, pointerText)
            case (nil, .literal(let literal)?): Self.patch(kind, pointerText, value: literal)
            case (let from?, nil) where from.root == path.root:
                Self.patch(kind, pointerText, from: from.pointer.description)
            default: nil
            }
    }

    static func patch(
        _ kind: Kind, _ path: String, from: String? = nil, value: JSONDocument? = nil
    ) -> JSONDocument {
        var members: [(name: String, value: JSONDocument)] = [
            (name: "op", value: JSONDocument(kind.rawValue)), (name: "path", value: JSONDocument(path)),
        ]
        if let from { members.append((name: "from", value: JSONDocument(from))) }
        if let value { members.append((name: "value", value: value)) }
        return JSONDocument([JSONDocument(members: members)])
    }
}
