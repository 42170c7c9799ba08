import JSONDocument

/// A change of the session's services.
public enum Action: Sendable {
    /// An operation of a JSON Patch (RFC 6902).
    case patch(PatchOperation)
    /// Merges a value into the one at a path, as a JSON Merge Patch (RFC 7396); what is not there yet is made.
    case merge(DataPath, ValueTemplate)
    /// Sets the service back to its default.
    case clear(service: String)
    /// Removes the instance from the session; the next access makes a new one.
    case remove(service: String)
    /// Runs a command of a service; its output is `/result` for the actions behind it in the same list.
    case call(service: String, command: String, input: ValueTemplate?)

    /// The paths at which it needs values.
    var neededPaths: [DataPath] {
        switch self {
        case .patch(let operation):
            (operation.value?.neededPaths ?? [])
                + (operation.path.built + (operation.from?.built ?? [])).flatMap(\.neededPaths)
        case .merge(let path, let value): (path.built + [value]).flatMap(\.neededPaths)
        case .clear, .remove: []
        case .call(_, _, let input): input?.neededPaths ?? []
        }
    }
}

extension Action {
    /// The service that is changed; of a command, the one that has it.
    package var service: String {
        switch self {
        case .patch(let operation): operation.path.service ?? ""
        case .merge(let path, _): path.service ?? ""
        case .clear(let service), .remove(let service), .call(let service, _, _): service
        }
    }

    /// What the action writes; nil for an action that gives no value.
    var target: DataPath? {
        switch self {
        case .patch(let operation): operation.path
        case .merge(let path, _): path
        case .clear, .remove, .call: nil
        }
    }
}

/// One operation of RFC 6902, as if the services were the members of one document.
public struct PatchOperation: Sendable {
    /// The operation.
    public let kind: Kind
    /// The target; its root is a service.
    public let path: DataPath
    /// The source of `move` and `copy`; its root is a service, not necessarily the same.
    public let from: DataPath?
    /// The value of `add`, `replace` and `test`.
    public let value: ValueTemplate?
    /// ``path`` within the service.
    let pointerText: String
    /// The operation as a patch of its service, when it does not depend on other data.
    let ready: JSONDocument?

    /// The operations of RFC 6902.
    public enum Kind: String, Sendable, CaseIterable {
        /// As RFC 6902, section 4, defines it.
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
            case _ where !path.built.isEmpty || from?.built.isEmpty == false: nil
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
