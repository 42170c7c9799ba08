import Synchronization

/// If a store keeps the sessions anyway, the least recently used ones are evicted from memory when all of them take too
/// much.
extension SessionRegistry {
    /// Evicts sessions if necessary: a few at most, so that each session that is added or grows pays for those that
    /// leave.
    ///
    /// The index of deadlines is nearly in order of use: a session that was used last expires last. An entry whose
    /// deadline has moved goes back in.
    ///
    /// - Parameter id: of a session that was just added, or has grown. The search begins in its shard.
    func makeRoom(near id: SessionID, _ environment: SessionEnvironment) {
        var excess = environment.excessBytes
        guard excess > 0 else { return }
        var looks = Self.looks
        let first = place(of: id)
        for offset in 0..<shards.count where excess > 0 && looks > 0 {
            let left = shards.withLock((first + offset) & (shards.count - 1)) { content in
                content.letLeave(environment.settings, looks: &looks, &excess)
            }
            // No other code has them. What was counted of them is taken back.
            for session in left { session.markEnded() }
        }
    }

    /// Evicts a session that nobody uses.
    ///
    /// - Returns: false when it has to stay for now.
    @discardableResult
    func letLeave(_ id: SessionID) -> Bool {
        let (left, isGone) = shards.withLock(place(of: id)) { content -> (Session?, Bool) in
            guard let place = content.sessions.index(forKey: id) else { return (nil, true) }
            let left = content.letLeave(place)
            return (left, left != nil)
        }
        // No other code has it. What was counted of it is taken back.
        left?.markEnded()
        return isGone
    }

    /// How many entries are looked at for each session that is added. In the long run an entry is looked at once for
    /// each idle timeout in which its session is used, and once when it leaves.
    private static let looks = 16
}

extension RegistryShard {
    fileprivate mutating func letLeave(
        _ settings: SessionSettings, looks: inout Int, _ excess: inout Int
    ) -> [Session] {
        var leaving: [Session] = []
        var staying: [ExpiryIndex.Entry] = []
        while looks > 0, excess > 0, let entry = expiry.popFirst() {
            looks -= 1
            // Entries of ended sessions are dropped.
            guard let place = sessions.index(forKey: entry.id) else { continue }
            let deadline = sessions.values[place].state.withLock { state in
                settings.look(before: state.deadline(settings), from: state.lastUsedAt)
            }
            guard deadline <= entry.deadline else {
                expiry.insert(entry.id, deadline: deadline)
                continue
            }
            guard let session = letLeave(place) else {
                staying.append(entry)
                continue
            }
            excess -= session.state.withLock { $0.record.writtenBytes } + Session.footprint
            leaving.append(session)
        }
        for entry in staying { expiry.insert(entry.id, deadline: entry.deadline) }
        return leaving
    }

    /// Takes a session out, unless it is in use.
    fileprivate mutating func letLeave(_ place: Dictionary<SessionID, Session>.Index) -> Session? {
        guard !isHeldElsewhere(place), sessions.values[place].state.withLock(\.canLeave) else { return nil }
        let (id, session) = sessions[place]
        if let time = session.state.withLock({ $0.takeUnsavedUse() }) { noteUse(id, at: time) }
        sessions.remove(at: place)
        return session
    }

    /// Whether other code refers to the session. The shard's lock is held while a reference is taken, so no new
    /// reference can appear until the session has been evicted.
    private mutating func isHeldElsewhere(_ place: Dictionary<SessionID, Session>.Index) -> Bool {
        if isKnownUniquelyReferenced(&sessions.values[place]) { return false }
        // The list of remembered journeys may refer to it, which is not a use.
        sessions.values[place].letGoOfJourneys()
        return !isKnownUniquelyReferenced(&sessions.values[place])
    }
}

extension Session.State {
    /// A session that must end stays until the store knows, and one with commits in progress stays until they are
    /// published.
    fileprivate var canLeave: Bool { stage == .open && !isBusy }
}

/// Uses that the store does not know yet.
extension SessionRegistry {
    /// Records a use for ``takeUses(from:all:)``.
    func noteUse(_ id: SessionID, at time: Int64) {
        shards.withLock(place(of: id)) { $0.noteUse(id, at: time) }
    }

    /// The uses to report to the store, by id: those of a shard, and of further shards while they are few. Call
    /// ``finishSaving(_:isDone:)`` afterwards.
    ///
    /// - Parameters:
    ///   - place: the shard to begin with; afterwards the one to continue with.
    ///   - all: whether to take uses of sessions in memory that are not due yet.
    /// - Returns: `nil` after the last shard.
    func takeUses(from place: inout Int, all: Bool) -> [SessionUse]? {
        guard place < shards.count else { return nil }
        var taken: [SessionUse] = []
        while place < shards.count, taken.count < Self.usesAtOnce {
            taken += shards.withLock(place) { $0.takeUses(all: all) }
            place += 1
        }
        return taken.sorted { $0.id < $1.id }
    }

    /// About two mebibytes, and enough that many sessions are neighbours in the store.
    private static let usesAtOnce = 1 << 16

    /// - Parameter isDone: whether the store has them; otherwise they are reported again.
    func finishSaving(_ uses: ArraySlice<SessionUse>, isDone: Bool) {
        for use in uses {
            shards.withLock(place(of: use.id)) { content in
                if content.savingUses[use.id] == use.usedAt { content.savingUses[use.id] = nil }
                if !isDone { content.noteUse(use.id, at: use.usedAt) }
            }
        }
    }

    /// When the session was last used, as far as memory knows, even if it has just left.
    func lastUse(of id: SessionID) -> Int64? {
        shards.withLock(place(of: id)) { content in
            content.sessions[id]?.state.withLock(\.lastUsedAt) ?? content.unsavedUse(of: id)
        }
    }

    /// Whether memory knows more about the session than the store, or is about to.
    func isInUse(_ id: SessionID) -> Bool {
        shards.withLock(place(of: id)) { content in
            content.sessions[id] != nil || content.isAboutToChange(id)
        }
    }
}

extension RegistryShard {
    fileprivate mutating func takeUses(all: Bool) -> [SessionUse] {
        if all {
            for (id, session) in sessions {
                if let time = session.state.withLock({ $0.takeUnsavedUse() }) { noteUse(id, at: time) }
            }
        }
        guard !uses.isEmpty else { return [] }
        let taken = uses.map { SessionUse(id: $0.key, usedAt: $0.value) }
        savingUses.merge(uses, uniquingKeysWith: max)
        uses = [:]
        return taken
    }
}

extension Session.State {
    /// The last use, if the store was not told of it. From now on it counts as reported.
    mutating func takeUnsavedUse() -> Int64? {
        guard unsavedUse > 0 else { return nil }
        unsavedUse = 0
        return lastUsedAt
    }
}
