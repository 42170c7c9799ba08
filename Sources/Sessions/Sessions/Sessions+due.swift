import Synchronization

// What time does to journeys happens whether or not anybody looks: the store has an index of due times.
extension Sessions {
    /// Does what time does to journeys, until the task is cancelled.
    package func runDue() async {
        while !Task.isCancelled {
            try? await environment.clock.sleep(milliseconds: Self.dueInterval)
            await sweepDue()
        }
    }

    /// To ask the store costs microseconds, so nobody has to be woken for the next due time.
    private static let dueInterval: Int64 = 250
    /// When a session that is over is looked at again.
    static let thirdLook: Int64 = 600_000
    /// How many sessions are handled together: enough to share a sync, and few to a client whose write comes with them.
    private static let dueBatch = 64
    /// So many that could not be handled end a turn: the cause is probably not theirs.
    private static let mostLeft = 256

    /// Does what is due by now. Each session gets one try; one that fails or takes long keeps no other waiting.
    ///
    /// - Returns: how many sessions were handled.
    @discardableResult
    package func sweepDue() async -> Int {
        let now = environment.clock.now()
        // Those that had their try, and how many of them are still due.
        var (tried, left, busy) = (Set<SessionID>(), 0, 0)
        await withTaskGroup(of: Void.self) { group in
            while !Task.isCancelled, left < Self.mostLeft {
                let limit = Self.dueBatch + left
                guard let found = try? await environment.store.dueSessions(now: now, limit: limit) else { break }
                let due = found.filter { tried.insert($0.id).inserted }
                if tried.count == due.count {
                    dueLag.store(found.first.map { now - $0.dueAt } ?? 0, ordering: .relaxed)
                }
                left = found.count - due.count
                if due.isEmpty, found.count < limit { break }
                for session in due {
                    if busy == Self.dueBatch { await group.next() } else { busy += 1 }
                    group.addTask { await self.handle(session, now: now) }
                }
                // Clients' work comes between.
                await Task.yield()
            }
        }
        dueCount.wrappingAdd(tried.count, ordering: .relaxed)
        return tried.count
    }

    /// It may be on disk. It leaves memory afterwards if it was not there before, and does not count as used.
    private func handle(_ due: DueSession, now: Int64) async {
        let wasResident = registry[due.id] != nil
        let later: PutOff?
        do {
            later = try await passTime(of: due, now: now)
        } catch let error as SessionError where error.isTemporary {
            later = PutOff(due, to: now + Self.soon)
        } catch {
            later = PutOff(due, to: now + Self.secondLook)
        }
        if !wasResident { registry.letLeave(due.id) }
        guard let later else { return }
        // If the store cannot, it stays due, too.
        try? await environment.ask { store throws(StoreError) in try await store.putOff(later.due, to: later.time) }
    }

    /// Commits the times of sessions. What fails is found again in the next round through the store.
    func deriveTimes(of ids: [SessionID]) async {
        await withDiscardingTaskGroup { group in
            for id in ids {
                group.addTask { [self] in
                    let wasResident = registry[id] != nil
                    if let session = try? await load(id, isForMoment: true),
                        !session.isOver(now: environment.clock.now())
                    {
                        try? await session.deriveTimes()
                    }
                    if !wasResident { registry.letLeave(id) }
                }
            }
        }
    }

    /// - Returns: nil when the store knows when it is due next.
    private func passTime(of due: DueSession, now: Int64) async throws -> PutOff? {
        guard let session = try await load(due.id, isForMoment: true) else {
            return PutOff(due, to: now + Self.thirdLook)
        }
        do {
            return try await session.passTime(due, now: now)
        } catch SessionError.ended {
            // Perhaps it has only left memory.
            return PutOff(due, to: now + Self.soon)
        }
    }
}

/// A session that is due and has nothing to do yet.
struct PutOff: Sendable {
    let due: DueSession
    let time: Int64

    init(_ due: DueSession, to time: Int64) { (self.due, self.time) = (due, time) }
}
