import Synchronization

/// Where a store keeps the sessions anyway, those that were not used for the longest time leave memory when there are
/// too many.
extension SessionRegistry {
    /// Lets sessions leave if there are too many: a few at most, so that each that comes pays for one that goes.
    ///
    /// The index of deadlines is nearly an order of use: who was used last expires last. A deadline that has moved since
    /// it was put in goes back in.
    ///
    /// - Parameter id: of a session that has just come. Its shard is where the search begins.
    /// - Returns: those that have left. Nobody else has them, and what was counted of them is still to be taken back.
    func makeRoom(near id: SessionID, settings: SessionSettings) -> [Session] {
        guard isTooFull else { return [] }
        var left: [Session] = []
        var looks = Self.looks
        let first = place(of: id)
        for offset in 0..<min(shards.count, Self.shardsToLookAt) where isTooFull && looks > 0 {
            shards.withLock((first + offset) & (shards.count - 1)) { content in
                left += content.letLeave(settings, looks: &looks) {
                    isTooFull
                } left: {
                    residentCount.wrappingSubtract(1, ordering: .relaxed)
                }
            }
        }
        return left
    }

    private var isTooFull: Bool { sessionCount > residentLimit }

    /// So many entries are looked at for each session that comes. In the long run an entry is looked at once for each
    /// idle timeout in which its session is used, and once when it leaves.
    private static let looks = 16
    /// When none of a shard can leave, others are asked.
    private static let shardsToLookAt = 4
}

extension RegistryShard {
    fileprivate mutating func letLeave(
        _ settings: SessionSettings, looks: inout Int, while isTooFull: () -> Bool, left: () -> Void
    ) -> [Session] {
        var leaving: [Session] = []
        var staying: [ExpiryIndex.Entry] = []
        while looks > 0, isTooFull(), let entry = expiry.popFirst() {
            looks -= 1
            // Entries of sessions that have ended are just dropped.
            guard let place = sessions.index(forKey: entry.id) else { continue }
            let deadline = sessions.values[place].state.withLock { $0.deadline(settings) }
            guard deadline <= entry.deadline else {
                expiry.insert(entry.id, deadline: deadline)
                continue
            }
            guard !isHeldElsewhere(place), sessions.values[place].state.withLock(\.canLeave) else {
                staying.append(entry)
                continue
            }
            if let time = sessions.values[place].state.withLock({ $0.takeUnsavedUse() }) { noteUse(entry.id, at: time) }
            leaving.append(sessions.remove(at: place).value)
            left()
        }
        for entry in staying { expiry.insert(entry.id, deadline: entry.deadline) }
        return leaving
    }

    /// Whether somebody works with the session. References are only ever given out under this shard's lock, so that who
    /// has none now gets none before the session is out.
    private mutating func isHeldElsewhere(_ place: Dictionary<SessionID, Session>.Index) -> Bool {
        if isKnownUniquelyReferenced(&sessions.values[place]) { return false }
        // It may be held as one whose journeys are remembered, which is no use of it.
        sessions.values[place].letGoOfJourneys()
        return !isKnownUniquelyReferenced(&sessions.values[place])
    }
}

extension Session.State {
    /// A session that is to end stays until the store knows of the end, and one with commits under way until they are
    /// published.
    fileprivate var canLeave: Bool { stage == .open && !isBusy }
}

extension Session {
    fileprivate func letGoOfJourneys() {
        let (id, memory) = state.withLock { state in
            defer { state.memory = nil }
            return (state.record.id, state.memory)
        }
        // The lock of the list may be taken within that of a registry's shard, for nothing is taken within it.
        environment.remembered.remove(self, id)
        withExtendedLifetime(memory) {}
    }
}
