/// One line of a locator's `listing`: a registered service and whether it lives.
public struct ServiceListing: Hashable, Sendable {
    public let key: AnyServiceKey
    public let scope: ServiceScope
    /// Whether an instance is there now. One that is still being made does not live yet.
    public let isLive: Bool
    /// Whether the instance was handed to the locator ready-made. Its supplier owns it; it is never removed.
    public let isSupplied: Bool
    /// Rises with each instance that its locator makes, from 1. `nil` when none lives, and for supplied ones.
    public let creationOrder: Int?

    public var name: String { key.name }
    public var typeName: String { String(describing: key.type) }
}
