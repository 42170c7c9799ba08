import JSONDocument

/// A value that may have holes for data: `{"author": {"$from": "/profile/name"}}`.
public indirect enum ValueTemplate: Sendable {
    /// Without holes.
    case literal(JSONDocument)
    /// The value at a path. Without a value there, and without a default, there is no value at all.
    case from(DataPath, default: ValueTemplate?)
    case array([ValueTemplate])
    case object([(name: String, value: ValueTemplate)])

    /// Every path in it that has no default.
    public var neededPaths: [DataPath] {
        switch self {
        case .literal: []
        case .from(let path, let fallback): fallback == nil ? [path] : fallback?.neededPaths ?? []
        case .array(let elements): elements.flatMap(\.neededPaths)
        case .object(let members): members.flatMap(\.value.neededPaths)
        }
    }
}
