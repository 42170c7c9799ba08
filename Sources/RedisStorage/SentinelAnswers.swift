/// What each sentinel has said last of the master, and what follows from all of it.
///
/// Sentinels learn of a failover one after the other, and one that was away names a former master for a while. Each
/// failover has a higher epoch, so of different answers that with the highest one is right.
struct SentinelAnswers: Sendable {
    typealias Instant = ContinuousClock.Instant

    /// A master, as a sentinel names it.
    struct Master: Sendable, Equatable {
        let place: RedisAddress.Place
        /// The number of the failover that made it the master; -1 when the sentinel does not tell.
        let epoch: Int64
        /// The sentinel.
        let source: RedisAddress.Place

        /// Sentinels may have two names for one server.
        func isSame(as other: Master) -> Bool { place == other.place || (epoch == other.epoch && epoch > 0) }
    }

    /// Whether replies of a server count.
    enum Standing: Equatable {
        case believed
        /// Sentinels have to be asked first.
        case doubtful
        case replaced(by: RedisAddress.Place)
    }

    private struct Entry {
        var master: Master?
        /// When the sentinel was asked for that.
        var answeredAt: Instant?
        /// Why the last question has no answer.
        var failure: RedisFailure?
        var askedAt: Instant?
    }

    private var entries: [Entry]
    /// Since when there is this master.
    private var changedAt = Instant.now

    /// An answer counts for so long from the question on.
    static let validity = Duration.seconds(1)
    /// A sentinel that was asked this long ago or earlier, and has not answered since, may be about to.
    static let patience = Duration.milliseconds(1_500)

    init(count: Int) { entries = Array(repeating: Entry(), count: count) }

    /// The present master; nil when no sentinel has named one.
    var master: Master? {
        let named = entries.compactMap(\.master)
        // Of the same epoch, or without epochs, what most of them say.
        return named.max { one, two in
            one.epoch != two.epoch
                ? one.epoch < two.epoch
                : named.count { $0.place == one.place } < named.count { $0.place == two.place }
        }
    }

    /// Why there is no master.
    var failure: RedisFailure? { entries.lazy.compactMap(\.failure).last }

    /// - Returns: whether another master is named.
    @discardableResult
    mutating func note(
        _ answer: Result<Master, RedisFailure>, of sentinel: Int, askedAt: Instant, at now: Instant = .now
    ) -> Bool {
        let former = master
        entries[sentinel].askedAt = askedAt
        switch answer {
        case .success(let named):
            entries[sentinel].master = named
            entries[sentinel].answeredAt = askedAt
            entries[sentinel].failure = nil
        case .failure(let failure): entries[sentinel].failure = failure
        }
        guard let master, former?.isSame(as: master) != true else { return false }
        changedAt = now
        return true
    }

    /// Whether enough sentinels have answered to know the master, or as many as there are.
    func isComplete(at now: Instant) -> Bool { isMajority(since: now - Self.validity) || isExhausted(at: now) }

    /// - Parameter start: since when every sentinel must have been asked, one that has just replaced the master as
    ///   well; nil when most of them are enough, ``validity`` ago.
    func standing(of server: Master, at now: Instant, since start: Instant? = nil) -> Standing {
        guard let master else { return .doubtful }
        guard master.isSame(as: server) else { return .replaced(by: master.place) }
        // Other processes may still believe a former master. What is acknowledged before they cannot any more would be
        // contradicted there.
        if now - changedAt < Self.validity { return .doubtful }
        // When most sentinels are away, nobody can replace the master but those on the other side of a split network,
        // which cannot be seen from here. See docs/scaling.md.
        if let start {
            return entries.allSatisfy { $0.askedAt.map { $0 >= start } ?? false } ? .believed : .doubtful
        }
        return isComplete(at: now) ? .believed : .doubtful
    }

    /// Whether most sentinels were asked since then, and named the present master.
    private func isMajority(since start: Instant) -> Bool {
        guard let master else { return false }
        let count = entries.count { entry in
            guard let named = entry.master, let answeredAt = entry.answeredAt else { return false }
            return answeredAt >= start && named.isSame(as: master)
        }
        return count > entries.count / 2
    }

    /// Whether all were asked a moment ago, and too few have answered.
    private func isExhausted(at now: Instant) -> Bool {
        entries.allSatisfy { entry in entry.askedAt.map { now - $0 < Self.patience } ?? false }
            && entries.contains { $0.failure != nil || $0.master.map { !$0.isSame(as: master ?? $0) } ?? true }
    }
}
