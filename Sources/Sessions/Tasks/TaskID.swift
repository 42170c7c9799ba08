/// The name of a task: the session, the journey and the step that began it. So it leads to its session without an
/// index, stays the same over all attempts, and never comes back.
///
/// Its text is `tsk-`, the digits of the session's id, the journey's id without its prefix, and the number, with
/// hyphens between: it has no dot, so that it can be signed as a message id of Standard Webhooks. In that of a notice
/// `session` is in the place of the journey.
package struct TaskID: Sendable, Hashable {
    package let session: SessionID
    package let journey: String
    package let number: UInt64

    package init(session: SessionID, journey: String, number: UInt64) {
        self.session = session
        self.journey = journey
        self.number = number
    }

    /// Nil for a text that is no id of a task.
    package init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == "tsk", let session = SessionID("ses_\(parts[1])"),
            let number = UInt64(parts[3]), number > 0
        else { return nil }
        let isNamed = parts[2] == JourneySettings.mainID || Self.isNotice(parts[2])
        let journey = isNamed ? String(parts[2]) : "jrn_\(parts[2])"
        guard isNamed || JourneyID.isOne(journey) else { return nil }
        self.init(session: session, journey: journey, number: number)
        // One text for each.
        guard description == text else { return nil }
    }
}

extension TaskID: CustomStringConvertible {
    package var description: String {
        let journey = journey.hasPrefix("jrn_") ? journey.dropFirst("jrn_".count) : journey[...]
        return "tsk-\(session.description.dropFirst(SessionID.prefix.count))-\(journey)-\(number)"
    }
}

extension TaskID: Comparable {
    /// The order of lists.
    package static func < (left: Self, right: Self) -> Bool {
        if left.session != right.session { return left.session < right.session }
        if left.journey.utf8.elementsEqual(right.journey.utf8) { return left.number < right.number }
        return left.journey.utf8.lexicographicallyPrecedes(right.journey.utf8)
    }
}
