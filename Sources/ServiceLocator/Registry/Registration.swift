/// What a registry knows of one key.
struct Registration: Sendable {
    let key: AnyServiceKey
    let scope: ServiceScope
    let needs: [AnyServiceKey]
    /// A `Factory` of the key's type.
    let factory: any AnyObject & Sendable
    /// The boxed instance as a `Service`, if it is one.
    let lifecycle: @Sendable (AnyInstance) -> (any Service)?

    init<Instance: Sendable>(
        _ key: ServiceKey<Instance>, scope: ServiceScope, needs: [AnyServiceKey],
        make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?
    ) {
        self.key = key.erased
        self.scope = scope
        self.needs = needs
        factory = Factory(make: make)
        lifecycle = { ($0 as? Box<Instance>)?.value as? any Service }
    }
}

/// How instances of one key are made. A class, for the reason given at `Box`.
final class Factory<Instance: Sendable>: Sendable {
    /// `nil` for keys whose instances are supplied.
    let make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?

    init(make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?) { self.make = make }
}
