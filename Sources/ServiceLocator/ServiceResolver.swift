/// What a factory gets to resolve what its service needs.
///
/// It knows for whose sake it asks: services that need each other are an error with the whole chain, and a service of
/// the process cannot ask for one of a session. It can neither be copied nor kept, so a service that wants another
/// one later has to be given that one, or a way to get it, in its initializer.
public struct ServiceResolver: ~Copyable {
    let locator: ServiceLocator
    let construction: Construction

    /// The key that is being made, for factories that serve several names.
    public var key: AnyServiceKey { construction.key }

    /// The instance of that key, which is made if it does not live yet.
    ///
    /// - Throws: `ServiceLocatorError`; a factory usually lets it through.
    public func resolve<Instance: Sendable>(_ key: ServiceKey<Instance>) throws(ServiceLocatorError) -> Instance {
        try locator.resolve(key, asker: construction)
    }
}
