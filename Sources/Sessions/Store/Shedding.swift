/// Which sessions end for new ones when there are as many as may be: first those that were never used, then those
/// without a user that nobody has used for minutes.
package struct Shedding: Sendable {
    /// Steady time, in milliseconds.
    package let now: Int64

    package init(now: Int64) {
        self.now = now
    }

    /// Time for an honest client to use its session for the first time.
    package static let unusedAge: Int64 = 5_000
    /// Time for a person to go on with what they have begun.
    package static let idleAge: Int64 = 5 * 60_000

    /// A session that may end.
    package struct Candidate: Sendable, Hashable, Comparable {
        package let id: SessionID
        let isUsed: Bool
        let lastUsedAt: Int64

        /// Whether the left one ends first.
        package static func < (left: Candidate, right: Candidate) -> Bool {
            if left.isUsed != right.isUsed { return right.isUsed }
            return (left.lastUsedAt, left.id) < (right.lastUsedAt, right.id)
        }
    }

    /// - Parameters:
    ///   - lastUsedAt: when it was created, if it was never used.
    ///   - isUsed: whether it was used or written since its creation.
    /// - Returns: nil when the session must stay.
    package func candidate(_ id: SessionID, lastUsedAt: Int64, isUsed: Bool, hasUser: Bool) -> Candidate? {
        guard !hasUser, lastUsedAt + (isUsed ? Self.idleAge : Self.unusedAge) <= now else { return nil }
        return Candidate(id: id, isUsed: isUsed, lastUsedAt: lastUsedAt)
    }
}
