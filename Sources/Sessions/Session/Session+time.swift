import Navigation

extension Session {
    /// Does what time has done to the journeys by now. Each has a unit of work of its own, so that one that cannot go
    /// on keeps no other back.
    ///
    /// - Parameter due: as the store has it.
    /// - Returns: nil when a commit has told the store when the session is due next.
    /// - Throws: when a journey cannot go on for a reason that may pass.
    nonisolated(nonsending) func passTime(_ due: DueSession, now: Int64) async throws -> PutOff? {
        var failure: (any Error)?
        let (kept, former) = try await committedJourneys()
        if kept.isMovingJourneys { environment.movesUnderWay.withLock { _ = $0.insert(id) } }
        // Nothing happens any more that is due after the end of the session.
        let time = min(now, stored.end(environment.settings))
        var hadWork = kept.nextDue.map { $0 <= time } ?? false
        for journey in kept.journeys where journey.isDue(at: time) {
            do { try await drive(journey.id, begins: false) { _ in } } catch { failure = failure ?? error }
        }
        for task in kept.tasks where task.endsAt.map({ $0 <= now }) ?? false {
            do {
                _ = try await giveUpTask(
                    TaskID(session: id, journey: task.journey, number: task.number), reason: Self.timeOver)
            } catch TaskError.over {} catch { failure = failure ?? error }
        }
        // What has happened may have begun work, for which the session stays.
        if isOver(now: now) {
            if kept.journeys.contains(where: environment.definitions.journeys.engine.hasLastingExit) {
                hadWork = true
                do { try await drive(nil) { try $0.expireAll() } } catch { failure = failure ?? error }
            }
            // The clock may be wrong, or the settings will be others, so it stays in the index.
            if !hadWork { return PutOff(due, to: now + Sessions.thirdLook) }
        }
        if let error = failure as? SessionError, error.isTemporary || error == .ended { throw error }
        let (after, times) = hadWork ? try await committedJourneys() : (kept, former)
        let hasToldStore = times.dueAt != former.dueAt
        if hasToldStore, times.dueAt > now { return nil }
        let next = nextLook(after, now: now) ?? .max
        let due = hasToldStore ? DueSession(id: due.id, dueAt: times.dueAt) : due
        guard next <= now else { return PutOff(due, to: next) }
        // A journey has more to do than one step may, or is stuck: then the longer it is late, the longer it can wait.
        let isStuck = after.journeys.elementsEqual(kept.journeys)
        let pause = isStuck ? min(max(now - next, Self.leastPause), Self.longestPause) : Self.leastPause
        return PutOff(due, to: now + pause)
    }

    /// Whether time still does something to the journeys of a session that is over (``passTime(_:now:)``). The session
    /// stays for that as long as one try may have to wait for the next.
    func hasWorkAtEnd(now: Int64) -> Bool {
        let (record, end) = state.withLock { ($0.record, $0.end(environment.settings)) }
        guard record.times.dueAt <= end, end <= now, now < end.later(by: Self.longestPause) else { return false }
        return environment.journeys(of: record)?.nextDue.map { $0 <= end } ?? false
            || environment.hasLastingExit(record)
    }

    private func nextLook(_ kept: KeptJourneys, now: Int64) -> Int64? {
        let isLasting = kept.journeys.contains(where: environment.definitions.journeys.engine.hasLastingExit)
        let next = earlier(kept.nextDue, isLasting ? stored.end(environment.settings) : nil)
        return earlier(next, kept.isMovingJourneys ? now + Sessions.secondLook : nil)
    }

    /// Commits the times that follow from the journeys, which a server of an earlier version has not.
    nonisolated(nonsending) func deriveTimes() async throws {
        try await drive(nil) { work in
            _ = try work.redate()
            try work.keep(atMost: nil)
        }
    }

    private static let leastPause: Int64 = 1_000
    private static let longestPause: Int64 = 600_000
    static let timeOver = "Its time is over."

    /// What is kept once the commits that are under way are done. One that began before the session was due has left
    /// the store's time as it is, whatever its own is: put off by the state before it, the session would be late.
    nonisolated(nonsending) private func committedJourneys() async throws -> (KeptJourneys, SessionTimes) {
        try await transact { [environment] pending in
            (try JourneyWork(on: pending, environment).kept, pending.base.times)
        }
    }
}

extension KeptJourneys {
    /// When time does something to a journey or a task for which none waits.
    fileprivate var nextDue: Int64? {
        let due = journeys.lazy.filter(\.isActive).compactMap(\.dueAt).min()
        return earlier(due, tasks.lazy.compactMap(\.endsAt).min())
    }
}

extension Journey {
    fileprivate func isDue(at now: Int64) -> Bool { isActive && dueAt.map { $0 <= now } ?? false }
}
