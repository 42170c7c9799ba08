/// What a registry knows of one key. A class, because each look-up hands it on, and copying a struct of this size would
/// count five references up and down.
final class Registration: Sendable {
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
        if let type = Instance.self as? any Service.Type {
            lifecycle = Self.lifecycle(of: type)
        } else {
            // A protocol, or a class with subclasses that conform: only the instance can tell.
            lifecycle = { unbox($0, as: Instance.self) as? any Service }
        }
    }

    /// Finds the conformance once, here, and not each time that an instance leaves.
    private static func lifecycle<Instance: Service>(of type: Instance.Type)
        -> @Sendable (AnyInstance) -> (any Service)?
    {
        { unbox($0, as: Instance.self) }
    }
}

/// How instances of one key are made.
final class Factory<Instance: Sendable>: Sendable {
    /// `nil` for keys whose instances are supplied.
    let make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?

    init(make: (@Sendable (borrowing ServiceResolver) throws -> Instance)?) { self.make = make }
}
