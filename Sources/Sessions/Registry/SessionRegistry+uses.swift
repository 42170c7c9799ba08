/// What the store is still to be told of.
extension SessionRegistry {
    /// Remembers a use for ``takeUses(from:all:)``.
    func noteUse(_ id: SessionID, at time: Int64) {
        shards.withLock(place(of: id)) { $0.noteUse(id, at: time) }
    }

    /// The uses of which the store is to be told, by id: those of a shard, and of further ones as long as they are few.
    /// ``finishSaving(_:isDone:)`` has to follow.
    ///
    /// - Parameters:
    ///   - place: the shard to begin with, and then the one to go on with.
    ///   - all: whether those of sessions in memory are taken of which it is not due yet.
    /// - Returns: nil behind the last shard.
    func takeUses(from place: inout Int, all: Bool) -> [SessionUse]? {
        guard place < shards.count else { return nil }
        var taken: [SessionUse] = []
        while place < shards.count, taken.count < Self.usesAtOnce {
            taken += shards.withLock(place) { $0.takeUses(all: all) }
            place += 1
        }
        return taken.sorted { $0.id < $1.id }
    }

    /// So many are some two mebibytes, and enough that many are of neighbours in the store.
    private static let usesAtOnce = 1 << 16

    /// - Parameter isDone: whether the store has them; else they are told again.
    func finishSaving(_ uses: ArraySlice<SessionUse>, isDone: Bool) {
        for use in uses {
            shards.withLock(place(of: use.id)) { content in
                if content.savingUses[use.id] == use.usedAt { content.savingUses[use.id] = nil }
                if !isDone { content.noteUse(use.id, at: use.usedAt) }
            }
        }
    }

    /// When the session was last used, as far as memory knows, whether it is there or has just left.
    func lastUse(of id: SessionID) -> Int64? {
        shards.withLock(place(of: id)) { content in
            content.sessions[id]?.state.withLock(\.lastUsedAt) ?? content.unsavedUse(of: id)
        }
    }

    /// Whether memory knows more of the session than the store, or is about to.
    func isInUse(_ id: SessionID) -> Bool {
        shards.withLock(place(of: id)) { content in
            content.sessions[id] != nil || content.loads[id] != nil || content.unsavedUse(of: id) != nil
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
    /// The last use, if the store was not told of it; from now on it counts as told.
    mutating func takeUnsavedUse() -> Int64? {
        guard unsavedUse > 0 else { return nil }
        unsavedUse = 0
        return lastUsedAt
    }
}
