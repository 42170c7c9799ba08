/// Sessions that were created and never used since.
extension SessionRegistry {
    /// Takes the oldest session that was never used since its creation, if that is `age` ago.
    ///
    /// - Returns: `nil` when there is none in memory.
    func takeUnused(age: Int64, now: Int64) -> Session? {
        guard now >= noUnusedBefore.load(ordering: .relaxed) else { return nil }
        let oldest = (0..<shards.count).compactMap { place in
            shards.withLock(place) { $0.firstUnused() }.map { (createdAt: $0, place: place) }
        }.min { $0.createdAt < $1.createdAt }
        guard let oldest, oldest.createdAt + age <= now else {
            // Whatever is created from now on is younger. So a flood of requests does not search again and again.
            noUnusedBefore.store((oldest?.createdAt ?? now) + age, ordering: .relaxed)
            return nil
        }
        return shards.withLock(oldest.place) { content in
            guard content.firstUnused() == oldest.createdAt, let id = content.created.first else { return nil }
            content.created.removeFirst()
            return content.sessions[id]
        }
    }

    /// Remembers unused sessions that the store has found, which are not in memory, in the place of those before.
    func noteUnused(_ ids: [SessionID]) {
        if !ids.isEmpty { storedUnused.withLock { $0 = ids.reversed() } }
    }

    /// Takes the first of those that are still not in memory.
    func takeStoredUnused() -> SessionID? {
        while let id = storedUnused.withLock({ $0.popLast() }) {
            if !isInUse(id) { return id }
        }
        return nil
    }

    /// A session that was taken could not be ended.
    func returnIfUnused(_ session: Session) {
        let id = session.state.withLock { $0.isUnused ? $0.record.id : nil }
        if let id { shards.withLock(place(of: id)) { $0.created.append(id) } }
    }
}

extension RegistryShard {
    /// When the first session of the queue was created; before, drops those that are gone or were used.
    fileprivate mutating func firstUnused() -> Int64? {
        while let id = created.first {
            let createdAt = sessions[id]?.state.withLock { $0.isUnused ? $0.record.createdAt : nil }
            if let createdAt { return createdAt }
            created.removeFirst()
        }
        return nil
    }
}

extension Session.State {
    /// Whether nobody has ever shown the session's token, and nothing was written to it.
    var isUnused: Bool {
        stage == .open && !isUsed && record.revision == 1 && lastUsedAt == record.createdAt
    }
}

/// Ids in the order in which sessions were created: a queue in an array.
struct CreatedSessions: Sendable {
    private var ids: [SessionID] = []
    private var taken = 0

    var count: Int { ids.count - taken }
    var first: SessionID? { taken < ids.count ? ids[taken] : nil }

    mutating func append(_ id: SessionID) { ids.append(id) }

    /// - Precondition: there is one.
    mutating func removeFirst() {
        taken += 1
        if taken > 64, taken * 2 > ids.count { compact { _ in true } }
    }

    mutating func compact(keeping isKept: (SessionID) -> Bool) {
        ids = ids[taken...].filter(isKept)
        taken = 0
    }
}
