/// What a part of the registry holds.
struct RegistryShard {
    var sessions: [SessionID: Session] = [:]
    var expiry = ExpiryIndex()
    /// Uses of which the store is to be told, and those of which it is being told: until it has them, they are what
    /// a session that has left is known by.
    var uses: [SessionID: Int64] = [:]
    var savingUses: [SessionID: Int64] = [:]
    /// What is being loaded.
    var loads: [SessionID: SessionLoad] = [:]

    /// Not inlined: where it is, the table is counted as used once more for each look-up.
    @inline(never)
    func session(_ id: SessionID) -> Session? { sessions[id] }

    /// Ended sessions leave entries in the index: they go when they are the most.
    mutating func compactIfStale() {
        // So few are not worth it.
        let tolerated = 64
        guard expiry.count > 2 * sessions.count + tolerated else { return }
        expiry.compact { sessions[$0] != nil }
    }

    mutating func noteUse(_ id: SessionID, at time: Int64) {
        uses[id] = max(uses[id] ?? time, time)
    }

    /// A use of which the store may not know yet.
    func unsavedUse(of id: SessionID) -> Int64? {
        guard !uses.isEmpty || !savingUses.isEmpty else { return nil }
        return [uses[id], savingUses[id]].compactMap(\.self).max()
    }
}
