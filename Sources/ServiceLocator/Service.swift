/// What an instance implements to be told when it is cleared and when it leaves its locator.
///
/// A locator holds instances of any `Sendable` type. One that does not conform cannot be cleared, and leaves silently.
/// Both calls come outside every lock of the locator, so they may take their time and may resolve other services.
public protocol Service: AnyObject, Sendable {
    /// Goes back to the default state. Whoever holds this instance keeps it and sees the default state from now on.
    ///
    /// There is no default implementation: only the service knows what its default state is, and replacing the
    /// instance instead would leave its holders with one that nobody else sees.
    func clear() throws

    /// Gives back what the instance holds: files, connections, timers. Called once, after it has left the locator.
    /// Services are disposed of newest first, so what this one resolved when it was made is still usable here.
    func dispose()
}

extension Service {
    /// Does nothing.
    public func dispose() {}
}
