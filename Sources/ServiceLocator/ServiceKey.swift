/// Names one service and says of what type it is.
///
/// Two keys with different names are two services, even when their type is the same: each has an instance of its own.
///
/// ```swift
/// let profile = ServiceKey("profile", of: Profile.self)
/// let draft = ServiceKey("draft-profile", of: Profile.self)
/// ```
public struct ServiceKey<Instance: Sendable>: Hashable, Sendable {
    /// The name, unique in a registry. It may come from outside the program, for example from a configuration file.
    public let name: String

    /// - Parameters:
    ///   - name: unique among the services of one registry.
    ///   - type: needed only where the compiler cannot tell it from the context.
    public init(_ name: String, of type: Instance.Type = Instance.self) {
        self.name = name
    }

    /// The same key where keys of several types stand together, for example in `needs:`.
    public var erased: AnyServiceKey { AnyServiceKey(self) }
}

/// A key without its type in the signature, for lists of keys: the needs of a service, what an observer is told.
public struct AnyServiceKey: Sendable {
    public let name: String
    /// The type that the service is resolved as.
    public let type: any Any.Type

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
