import Synchronization

/// Sessions that may end for new ones (``Shedding``).
extension SessionRegistry {
    /// Those that were found, the first to end last.
    struct SheddingList: Sendable {
        fileprivate(set) var candidates: [Shedding.Candidate] = []
        /// When the next search may begin. So a flood of requests does not search again and again.
        fileprivate var nextSearch = Int64.min
        /// Where it begins: a shard, and a place in its index.
        fileprivate var place = 0
        fileprivate var offset = 0

        /// So many are kept.
        fileprivate static let most = 1_024
        /// When fewer are left, others are searched for.
        fileprivate static let few = 256
        /// Whether so few are left, apart from those whose work would be lost with them.
        fileprivate var isShort: Bool {
            candidates.count < Self.few || candidates[candidates.count - Self.few].isWorking
        }
        /// In milliseconds, from one search to the next.
        fileprivate static let pause: Int64 = 100

        mutating func add(_ found: some Sequence<Shedding.Candidate>) {
            candidates = Set(candidates).union(found).sorted(by: >).suffix(Self.most)
        }
    }

    /// Takes the first that may still end.
    func takeCandidate(_ shedding: Shedding, _ settings: SessionSettings) -> SessionID? {
        while let id = shedList.withLock({ $0.candidates.popLast()?.id }) {
            let mayEnd = shards.withLock(place(of: id)) { content in
                guard let session = content.sessions[id] else { return !content.isAboutToChange(id) }
                return session.state.withLock { $0.candidate(shedding, settings) != nil }
            }
            if mayEnd { return id }
        }
        return nil
    }

    /// Whether the caller must ``search(_:_:)``: few candidates are left, and nobody has searched just now.
    func beginSearch(now: Int64) -> Bool {
        shedList.withLock { list in
            guard list.isShort, now >= list.nextSearch else { return false }
            list.nextSearch = now + SheddingList.pause
            return true
        }
    }

    /// Looks at a part of the sessions in memory; the next search looks at others. In all shards, sessions of all ages
    /// are mixed, so the first ones of a part are nearly the first of all.
    func search(_ shedding: Shedding, _ settings: SessionSettings) {
        var (found, rest) = ([Shedding.Candidate](), max(Self.leastLooks, sessionCount / 16))
        var (place, offset) = shedList.withLock { ($0.place, $0.offset) }
        for _ in 0..<shards.count where rest > 0 {
            var isMore = true
            while isMore, rest > 0 {
                isMore = shards.withLock(place) { content in
                    let entries = content.expiry.entries(from: offset, limit: Self.looksAtOnce)
                    for entry in entries {
                        guard let session = content.sessions[entry.id] else { continue }
                        let candidate = session.state.withLock { $0.candidate(shedding, settings) }
                        if let candidate { found.append(candidate) }
                    }
                    rest -= entries.count
                    return entries.count == Self.looksAtOnce
                }
                offset = isMore ? offset + Self.looksAtOnce : 0
            }
            if !isMore { place = (place + 1) % shards.count }
        }
        // The lock is workers', too.
        found.sort(by: >)
        shedList.withLock { list in
            list.add(found.suffix(SheddingList.most))
            (list.place, list.offset) = (place, offset)
        }
    }

    /// How many sessions a search looks at; of many sessions, a sixteenth.
    private static let leastLooks = 16_384
    /// How many it looks at while other threads wait for the shard.
    private static let looksAtOnce = 4_096
}

extension Session.State {
    /// Nil when the session must stay.
    func candidate(_ shedding: Shedding, _ settings: SessionSettings) -> Shedding.Candidate? {
        guard stage == .open, !isWatched else { return nil }
        let isUsed = self.isUsed || record.revision != 1 || lastUsedAt != record.createdAt
        return shedding.candidate(
            record.id, lastUsedAt: isUsed ? lastUsedAt + settings.useLag : lastUsedAt, isUsed: isUsed,
            keptUntil: record.times.keptUntil, hasUser: record.userID != nil)
    }
}
