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
