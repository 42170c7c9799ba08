/// One line of a locator's `listing`: a registered service and whether it lives.
public struct ServiceListing: Hashable, Sendable {
    /// The key of the service.
    public let key: AnyServiceKey
    /// How long its instance lives.
    public let scope: ServiceScope
    /// Whether an instance is there now. One that is still being made does not live yet.
    public let isLive: Bool
    /// Whether the instance was handed to the locator ready-made. Its supplier owns it; it is never removed.
    public let isSupplied: Bool
    /// Rises with each instance that its locator makes, from 1. `nil` when none lives, and for supplied ones.
    public let creationOrder: Int?

    /// The name of the key.
    public var name: String { key.name }
    /// The name of the type of its instance.
    public var typeName: String { String(describing: key.type) }
}
