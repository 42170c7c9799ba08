/// A part of the registry.
struct RegistryShard {
    var sessions: [SessionID: Session] = [:]
    var expiry = ExpiryIndex()
    /// Uses that the store must be told of or is being told of. Until the store has them, they stand for sessions that
    /// have left memory.
    var uses: [SessionID: Int64] = [:]
    var savingUses: [SessionID: Int64] = [:]
    /// The sessions that are being loaded.
    var loads: [SessionID: SessionLoad] = [:]

    /// Not inlined: inlining retains the table for each look-up.
    @inline(never)
    func session(_ id: SessionID) -> Session? { sessions[id] }

    /// Drops the index entries of ended sessions when they are the majority.
    mutating func compactIfStale() {
        // Fewer are not worth it.
        if expiry.count > 2 * sessions.count + 64 { expiry.compact { sessions[$0] != nil } }
    }

    mutating func noteUse(_ id: SessionID, at time: Int64) {
        uses[id] = max(uses[id] ?? time, time)
    }

    /// Whether a session that is not in memory is being loaded, or was used later than the store knows.
    func isAboutToChange(_ id: SessionID) -> Bool { loads[id] != nil || unsavedUse(of: id) != nil }

    /// A use that the store may not know yet.
    func unsavedUse(of id: SessionID) -> Int64? {
        guard !uses.isEmpty || !savingUses.isEmpty else { return nil }
        return [uses[id], savingUses[id]].compactMap(\.self).max()
    }
}
