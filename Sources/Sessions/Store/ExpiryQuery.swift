import JSONDocument

/// Which expired sessions a store must end. Times are steady time, in milliseconds.
package struct ExpiryQuery: Sendable {
    package let now: Int64
    /// The current setting: sessions may have been written under another one. It is for those that have none of their
    /// own (``SessionDetails/idleTimeout``).
    package let idleTimeout: Int64
    /// How long an expired session stays in the store.
    package let retention: Int64
    /// How many sessions are looked at, at most.
    package let limit: Int
    /// Whether memory knows more about the session than the store; such sessions are left alone. It is quick, and any
    /// thread may call it.
    package let isInUse: @Sendable (SessionID) -> Bool
    /// By how much a session's absolute expiry is later than its creation; nil when no session has to end for a new
    /// one.
    package var sheddingLifetime: Int64?
    /// Is told of each session that would be ended, which then stays: a caller that has to read them first ends them.
    /// It is quick, and any thread may call it.
    package var onOverdue: (@Sendable (SessionID) -> Void)?
    /// Is told of each session with journeys whose ``SessionTimes`` a program of an earlier version may have left as
    /// they were. It is quick, and any thread may call it.
    package var onUntimed: (@Sendable (SessionID) -> Void)?
    /// Is told of each session whose journeys the index of journeys may have where they were (``PlacedSession``), as
    /// far as the store can tell. It is quick, and any thread may call it.
    package var onUnplaced: (@Sendable (SessionID) -> Void)?

    /// Nil when the session must stay. One of another lifetime counts as used.
    package func candidate(
        _ id: SessionID, revision: Int64, lastUsedAt: Int64, expiresAt: Int64, keptUntil: Int64, hasUser: Bool
    ) -> Shedding.Candidate? {
        guard let sheddingLifetime else { return nil }
        return Shedding(now: now).candidate(
            id, lastUsedAt: lastUsedAt, isUsed: revision != 1 || lastUsedAt + sheddingLifetime != expiresAt,
            keptUntil: keptUntil, hasUser: hasUser)
    }

    /// Whether the session may be ended.
    package func isOver(_ session: StoredSession) -> Bool {
        let record = session.record
        let deadline = deadline(session.lastUsedAt, idleTimeout: record.idleTimeout, expiresAt: record.expiresAt)
        return isOver(after: deadline, record.times)
    }

    /// When a session expires, of what a store has at hand.
    ///
    /// - Parameter own: the idle timeout of the session itself.
    package func deadline(_ lastUsedAt: Int64, idleTimeout own: Int64?, expiresAt: Int64) -> Int64 {
        min(lastUsedAt.later(by: own ?? idleTimeout), expiresAt)
    }

    /// Whether a session may be ended that expires at a time. What time does to its journeys by now is done before.
    package func isOver(after deadline: Int64, _ times: SessionTimes) -> Bool {
        max(deadline, times.keptUntil).later(by: retention) <= now && times.dueAt > now
    }

    /// Whether a session has expired and stays for its work.
    package func isKept(after deadline: Int64, until keptUntil: Int64) -> Bool { keptUntil > now && deadline <= now }
}

/// The result of an ``ExpiryQuery``.
package struct ExpiredSessions: Sendable {
    /// How many sessions were ended.
    package let count: Int
    /// How many sessions were looked at. Fewer than requested at the store's last session.
    package let looked: Int
    /// Those among them that may end for new ones (``ExpiryQuery/sheddingLifetime``) and that memory does not have.
    package let candidates: [Shedding.Candidate]
    /// How many of those that were looked at have expired and stay for their work.
    package let kept: Int

    package init(count: Int, looked: Int, candidates: [Shedding.Candidate] = [], kept: Int = 0) {
        self.count = count
        self.looked = looked
        self.kept = kept
        self.candidates = candidates
    }
}

/// Which sessions end for new ones when there are as many as may be: first those that were never used, then those
/// without a user that nobody has used for minutes, at last those of them whose work a journey waits for.
package struct Shedding: Sendable {
    /// Steady time, in milliseconds.
    package let now: Int64

    /// Time for an honest client to use its session for the first time.
    package static let unusedAge: Int64 = 5_000
    /// Time for a person to go on with what they have begun.
    package static let idleAge: Int64 = 5 * 60_000

    /// A session that may end.
    package struct Candidate: Sendable, Hashable, Comparable {
        /// In the order in which they end.
        fileprivate enum Kind: Int { case unused, idle, working }

        package let id: SessionID
        fileprivate let kind: Kind
        let lastUsedAt: Int64
        /// Whether a journey of it waits for work or a time that outlives the token.
        var isWorking: Bool { kind == .working }

        /// Whether the left one ends first.
        package static func < (left: Candidate, right: Candidate) -> Bool {
            guard left.kind == right.kind else { return left.kind.rawValue < right.kind.rawValue }
            // Of those with work any one, by the random half of the ids. A client that fills the table with such
            // sessions then loses the most of them. By age, the honest ones from before would go first.
            if left.isWorking { return (left.id.low, left.id.high) < (right.id.low, right.id.high) }
            return (left.lastUsedAt, left.id) < (right.lastUsedAt, right.id)
        }
    }

    /// - Parameters:
    ///   - lastUsedAt: when it was created, if it was never used.
    ///   - isUsed: whether it was used or written since its creation.
    ///   - keptUntil: see ``SessionTimes/keptUntil``.
    /// - Returns: nil when the session must stay.
    package func candidate(
        _ id: SessionID, lastUsedAt: Int64, isUsed: Bool, keptUntil: Int64, hasUser: Bool
    ) -> Candidate? {
        guard !hasUser, lastUsedAt + (isUsed ? Self.idleAge : Self.unusedAge) <= now else { return nil }
        return Candidate(
            id: id, kind: keptUntil > now ? .working : isUsed ? .idle : .unused, lastUsedAt: lastUsedAt)
    }
}
