/// A key without its type in the signature, for lists of keys: the needs of a service, what an observer is told.
public struct AnyServiceKey: Sendable {
    /// The name of the service.
    public let name: String
    /// The type that the service is resolved as.
    public let type: any Any.Type

    /// Forgets the type of a key.
    public init<Instance: Sendable>(_ key: ServiceKey<Instance>) {
        name = key.name
        type = Instance.self
    }
}

extension AnyServiceKey: Hashable {
    public static func == (left: AnyServiceKey, right: AnyServiceKey) -> Bool {
        left.type == right.type && left.name == right.name
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(ObjectIdentifier(type))
    }
}

extension AnyServiceKey: CustomStringConvertible, CustomDebugStringConvertible {
    /// The name alone, safe to show to a client.
    public var description: String { name }

    /// Name and Swift type, for logs.
    public var debugDescription: String { "\(name): \(type)" }
}
