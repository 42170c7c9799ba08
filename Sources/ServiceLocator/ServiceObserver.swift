/// Is told what happens to the instances of a locator, for example to count them.
///
/// The calls come on the thread that caused them and outside every lock. For one instance `created` always comes
/// before `cleared` and `removed`; calls about different instances may come at the same time.
public protocol ServiceObserver: Sendable {
    /// The factory has returned; nobody but the factory has seen the instance yet.
    func created(_ key: AnyServiceKey)
    /// The instance is in its default state again.
    func cleared(_ key: AnyServiceKey)
    /// The instance has left the locator and has been disposed of.
    func removed(_ key: AnyServiceKey)
}

extension ServiceObserver {
    /// Does nothing.
    public func created(_ key: AnyServiceKey) {}
    /// Does nothing.
    public func cleared(_ key: AnyServiceKey) {}
    /// Does nothing.
    public func removed(_ key: AnyServiceKey) {}
}
