/// The name and the type of one service.
///
/// Keys with different names are different services, even of the same type: each has an instance of its own.
///
/// ```swift
/// let profile = ServiceKey("profile", of: Profile.self)
/// let draft = ServiceKey("draft-profile", of: Profile.self)
/// ```
public struct ServiceKey<Instance: Sendable>: Hashable, Sendable {
    /// The name, unique in a registry. It may come from a configuration file.
    public let name: String

    /// - Parameters:
    ///   - name: unique among the services of one registry.
    ///   - type: only needed where the compiler cannot infer it.
    public init(_ name: String, of type: Instance.Type = Instance.self) {
        self.name = name
    }

    /// The same key for lists of keys of several types, such as `needs:`.
    public var erased: AnyServiceKey { AnyServiceKey(self) }
}

/// A key without its type in the signature, for lists of keys and for observers.
public struct AnyServiceKey: Sendable {
    /// The name, unique in a registry.
    public let name: String
    /// The type that the service is resolved as.
    public let type: any Any.Type

    /// The same key without its type in the signature.
    public init<Instance: Sendable>(_ key: ServiceKey<Instance>) {
        name = key.name
        type = Instance.self
    }
}

extension AnyServiceKey: Hashable {
    /// Compares names and types.
    public static func == (left: AnyServiceKey, right: AnyServiceKey) -> Bool {
        left.type == right.type && left.name == right.name
    }

    /// Hashes name and type.
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
