import Synchronization

// A worker may report on a task whose journey has moved after the session is deleted in which the task began. So the
// store keeps for a while where journeys have gone from there: a record that no token opens and that nobody is shown.
// See docs/decisions/a-deleted-session-leaves-addresses.md.

extension SessionRecord {
    /// Whether the session has ended, and this only says where its journeys have gone.
    var hasEnded: Bool { token == .ofEnded }

    /// What is left of the session when it is deleted.
    ///
    /// - Returns: nil when no worker needs it.
    fileprivate func remains(_ environment: SessionEnvironment) -> StoredSession? {
        let now = environment.clock.now()
        guard let coordinator = try? environment.definitions.coordinator,
            let document = document(of: coordinator.index),
            KeptJourneys.mayHaveTransfers(document.bytes)
        else { return nil }
        var kept = KeptJourneys()
        kept.transfers = environment.journeys(of: self)?.transfers.remains(of: id, now: now) ?? JourneyTransfers()
        guard let end = kept.followedUntil else { return nil }
        let revision = highestRevision + 1
        let journeys = ServiceDocument(
            service: coordinator.index, birth: 0, revision: revision, createdAt: now, updatedAt: now,
            bytes: kept.bytes(former: 0))
        let record = SessionRecord(
            id: id, token: .ofEnded, createdAt: createdAt, expiresAt: max(now, createdAt + 1), revision: revision,
            services: [journeys], times: SessionTimes(keptUntil: end),
            details: SessionDetails(revisionFloor: details.revisionFloor))
        return StoredSession(record: record, lastUsedAt: now)
    }
}

extension SessionEnvironment {
    /// Puts in the place of a session what is left of it, and tells back ends of its end.
    ///
    /// - Parameter last: its last state. If other processes have committed another one, it is set.
    /// - Returns: false when nothing has to be left, and nothing was done.
    /// - Throws: ``StoreError/gone`` when it has ended before.
    func leaveRemains(of last: inout StoredSession, _ end: SessionEnd) async throws(StoreError) -> Bool {
        for _ in 0..<settings.maxConflictRetries {
            if last.record.hasEnded { throw .gone }
            guard let left = last.record.remains(self) else { return false }
            let notice = notice(of: end, last)
            do {
                try await store.receive(
                    SessionArrival(
                        session: left, replacedRevision: last.record.revision, tasks: notice.map { [$0] } ?? []))
                noteMoved(left.record.id)
                if let notice { tasks.tell([.begun(notice)]) }
                if !store.outlivesProcess { remains.add(left) }
                return true
            } catch {
                // Another process may have committed to it. Then it may be another user's, who is not erased.
                switch error {
                case .conflict, .overtaken: if end == .erased { throw error }
                default: throw error
                }
                guard let stored = try await store.load(last.record.id) else { throw .gone }
                last = stored
            }
        }
        throw .conflict
    }
}

extension Sessions {
    /// Removes what is left of a session that was deleted.
    ///
    /// - Returns: whether there was something.
    func removeRemains(of id: SessionID) async throws(SessionError) -> Bool {
        let stored = try await environment.ask { store throws(StoreError) in try await store.load(id) }
        guard stored?.record.hasEnded ?? false,
            try await environment.ask({ store throws(StoreError) in try await store.end(id) })
        else { return false }
        countEnd()
        return true
    }

    /// The same for all that nobody needs any more. Other stores than that of the process do so themselves.
    func removeRemains() async {
        for id in environment.remains.takeOverdue(now: environment.clock.now()) {
            _ = try? await removeRemains(of: id)
        }
    }
}

/// The remains of sessions in a store that ends with the process.
final class SessionRemains: Sendable {
    private let ends = Mutex<[SessionID: Int64]>([:])

    func add(_ left: StoredSession) {
        ends.withLock { $0[left.record.id] = left.record.times.keptUntil }
    }

    /// Any one, to make room.
    func takeFirst() -> SessionID? { ends.withLock { $0.popFirst()?.key } }

    func takeOverdue(now: Int64) -> [SessionID] {
        ends.withLock { ends in
            let overdue = ends.filter { $0.value <= now }.map(\.key)
            for id in overdue { ends[id] = nil }
            return overdue
        }
    }
}
