/// What the store is still to be told of.
extension SessionRegistry {
    /// Remembers a use for ``takeUses()``.
    func noteUse(_ id: SessionID, at time: Int64) {
        shards.withLock(place(of: id)) { $0.noteUse(id, at: time) }
    }

    /// The uses of which the store is to be told; ``finishSaving(_:isDone:)`` has to follow.
    func takeUses() -> [SessionUse] {
        (0..<shards.count).flatMap { place in
            shards.withLock(place) { content in
                let uses = content.uses
                guard !uses.isEmpty else { return [SessionUse]() }
                content.uses = [:]
                content.savingUses.merge(uses, uniquingKeysWith: max)
                return uses.map { SessionUse(id: $0.key, usedAt: $0.value) }
            }
        }
    }

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

    /// Whether memory knows more of the session than the store.
    func isInUse(_ id: SessionID) -> Bool { lastUse(of: id) != nil }
}
