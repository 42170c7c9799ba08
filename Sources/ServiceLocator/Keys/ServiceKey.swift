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
