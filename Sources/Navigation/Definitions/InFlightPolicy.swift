/// What becomes of journeys that run on an older version, at their next event.
public enum InFlightPolicy: String, Sendable, CaseIterable {
    /// They stay on theirs.
    case pin
    /// They move to this one, where a migration leads here.
    case migrate
    /// They start over on this one; the services are kept.
    case restart
}
