/// Where the instance of a service lives.
public enum ServiceScope: Hashable, Sendable {
    /// One instance for the whole process: in the locator that has no parent, seen by all below it.
    /// Such a service may not need one of `session`: it outlives every session, and would hold one of them for all.
    case process

    /// One instance for each locator.
    case session
}
