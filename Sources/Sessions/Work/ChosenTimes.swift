import JSONDocument

/// How long a session lasts from a sign-in on, in place of what the configuration says: what "remember me" asks for.
/// In milliseconds. It is the user's, and goes with the user.
package struct ChosenTimes: Sendable, Equatable {
    /// Nil for what holds already.
    package var idleTimeout: Int64?
    /// Counted from the sign-in. Nil for the end that the session has.
    package var lifetime: Int64?

    package init(idleTimeout: Int64? = nil, lifetime: Int64? = nil) {
        (self.idleTimeout, self.lifetime) = (idleTimeout, lifetime)
    }

    package static let none = ChosenTimes()

    /// Reads `idle_timeout` and `lifetime` of an object, each a text such as `30d`.
    ///
    /// - Parameter pointer: the place of `document` in the request.
    init(of document: JSONDocument, at pointer: String) throws(SessionError) {
        func time(_ name: String) throws(SessionError) -> Int64? {
            guard let value = document[member: name] else { return nil }
            guard let duration = value.string.flatMap({ DurationText.parse($0) }) else {
                throw .inputInvalid([
                    JSONViolation(pointer: "\(pointer)/\(name)", detail: "must be a duration, as in \"30d\"")
                ])
            }
            return duration.milliseconds
        }
        idleTimeout = try time("idle_timeout")
        lifetime = try time("lifetime")
    }

    /// - Throws: ``SessionError/invalid(_:)`` with pointers to the members.
    func check(_ settings: SessionSettings) throws(SessionError) {
        func problem(_ name: String, _ time: Int64?, _ least: Int64, _ most: Int64) -> JSONViolation? {
            guard let time, !(least...max(least, most)).contains(time) else { return nil }
            let range = "from \"\(Self.text(least))\" to \"\(Self.text(most))\""
            return JSONViolation(pointer: "/\(name)", detail: "must be \(range) (session_\(name)_max)")
        }
        // The store learns of uses so late that sessions in use would end sooner.
        let leastIdle = settings.touchInterval + Self.least
        let problems = [
            problem("idle_timeout", idleTimeout, leastIdle, settings.longestIdleTimeout),
            problem("lifetime", lifetime, Self.least, settings.longestLifetime),
        ].compactMap(\.self)
        guard problems.isEmpty else { throw .invalid(problems) }
    }

    private static let least: Int64 = 1_000

    private static func text(_ time: Int64) -> String { DurationText.format(.milliseconds(time)) }
}

extension PendingState {
    mutating func take(_ times: ChosenTimes) {
        if let timeout = times.idleTimeout { details.idleTimeout = timeout }
        if let lifetime = times.lifetime { expiresAt = now.later(by: lifetime) }
    }

    /// The user goes, and with the user what was chosen: the next person at the browser is a guest like any
    /// other.
    mutating func dropChosenTimes(_ settings: SessionSettings) {
        if details.idleTimeout != nil { details.idleTimeout = nil }
        let end = now.later(by: settings.lifetime)
        if expiresAt > end { expiresAt = end }
    }
}
