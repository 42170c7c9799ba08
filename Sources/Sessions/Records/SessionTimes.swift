import JSONDocument
import Navigation

/// When a session has to be looked at, and until when it has to stay, though nobody uses it. Both follow from its
/// journeys. In steady time, in milliseconds.
package struct SessionTimes: Sendable, Equatable {
    /// When the store hands the session out (``SessionStore/dueSessions(now:limit:)``): not later than time does
    /// something to one of the journeys. `.max` for never.
    package var dueAt: Int64
    /// Until when a journey waits for work or a time that outlives the token; once that is done, since when. `.min` for
    /// a session that has not had any.
    package var keptUntil: Int64

    package init(dueAt: Int64 = .max, keptUntil: Int64 = .min) {
        self.dueAt = dueAt
        self.keptUntil = keptUntil
    }

    package static let none = SessionTimes()
}

extension SessionTimes {
    /// Those after a change of journeys.
    ///
    /// A journey that moves is usually due later than before. The due time stays then: the store need not write its
    /// index for each step, and moves the entry when it comes up.
    ///
    /// - Parameters:
    ///   - next: when time does something to one of the journeys.
    ///   - keptUntil: that of the session after the change.
    func following(due next: Int64?, keptUntil: Int64, now: Int64) -> SessionTimes {
        let due = next.map { dueAt > now ? min(dueAt, $0) : $0 } ?? .max
        return SessionTimes(dueAt: due, keptUntil: keptUntil)
    }
}

extension SessionEnvironment {
    /// - Parameters:
    ///   - former: as the store has them.
    ///   - deadline: when the session expires, unless it is used before.
    func times(
        of kept: KeptJourneys, by engine: FlowEngine, after former: SessionTimes, deadline: Int64, now: Int64
    ) -> SessionTimes {
        var (due, end) = (Int64?.none, Int64?.none)
        var hasLastingExit = false
        for entry in kept.entries where entry.journey.isActive {
            due = earlier(due, entry.journey.dueAt)
            if engine.hasLastingExit(entry.journey) { hasLastingExit = true }
            // Most journeys wait for a person, and this copies none.
            guard entry.journey.task != nil || engine.catalog.hasLives else { continue }
            if let kept = engine.keptUntil(of: entry.journey, otherwise: settings.caseLifetime) {
                end = max(end ?? .min, kept)
            }
        }
        for task in kept.tasks {
            due = earlier(due, task.endsAt)
            end = max(end ?? .min, task.endsAt ?? task.begunAt.later(by: settings.caseLifetime))
        }
        // After a crash somebody has to bring them to where they were going.
        if kept.isMovingJourneys {
            due = earlier(due, now.later(by: Self.timeToMove))
            end = max(end ?? .min, now.later(by: settings.caseLifetime))
        }
        if let followed = kept.followedUntil, followed > now { end = max(end ?? .min, followed) }
        let keptUntil = end ?? min(former.keptUntil, now)
        if hasLastingExit { due = earlier(due, settings.end(after: deadline, keptUntil: keptUntil)) }
        return former.following(due: due, keptUntil: keptUntil, now: now)
    }

    /// A move takes no longer, unless a server or a store fails meanwhile.
    static let timeToMove: Int64 = 5_000

    /// Those of a session whose journeys are known and whose times are not.
    func times(of session: StoredSession) -> SessionTimes {
        guard let kept = journeys(of: session.record) else { return .none }
        return times(
            of: kept, by: definitions.journeys.engine, after: .none, deadline: session.deadline(settings),
            now: clock.now())
    }

    /// Whether a journey has to do something before its session is gone.
    func hasLastingExit(_ record: SessionRecord) -> Bool {
        let engine = definitions.journeys.engine
        return engine.catalog.hasLastingExits
            && journeys(of: record)?.journeys.contains(where: engine.hasLastingExit) ?? false
    }

    /// Nil when it has none that can be read.
    func journeys(of record: SessionRecord) -> KeptJourneys? {
        guard let coordinator = try? definitions.coordinator, let document = record.document(of: coordinator.index)
        else {
            return nil
        }
        return try? KeptJourneys(reading: document.bytes)
    }
}

extension SessionSettings {
    /// When a session goes whose token ends at a time: not before its work is done, and what came of it could be looked
    /// at for a while.
    func end(after deadline: Int64, keptUntil: Int64) -> Int64 {
        keptUntil == .min ? deadline : max(deadline, keptUntil.later(by: expiredRetention))
    }

    /// When a session expires, unless it is used before.
    ///
    /// - Parameter own: the idle timeout of the session itself.
    func deadline(lastUsedAt: Int64, idleTimeout own: Int64?, expiresAt: Int64) -> Int64 {
        min(lastUsedAt + (own ?? idleTimeout) + useLag, expiresAt)
    }

    /// When memory looks at a session again that expires at a time: not later than it would if it had chosen no idle
    /// timeout. So the index of deadlines stays nearly in the order of use, and a deadline that comes nearer is seen.
    func look(before deadline: Int64, from time: Int64) -> Int64 { min(deadline, time + idleTimeout + useLag) }
}

extension StoredSession {
    /// Whether a token opens it.
    func isUsable(_ settings: SessionSettings, now: Int64) -> Bool {
        record.token != .ofNobody && !record.hasEnded && deadline(settings) > now
    }

    /// When it expires, unless it is used before: its tokens open nothing from then on.
    func deadline(_ settings: SessionSettings) -> Int64 {
        settings.deadline(lastUsedAt: lastUsedAt, idleTimeout: record.idleTimeout, expiresAt: record.expiresAt)
    }

    /// When it goes: it may have work that outlives its tokens.
    func end(_ settings: SessionSettings) -> Int64 {
        settings.end(after: deadline(settings), keptUntil: record.times.keptUntil)
    }
}

extension Session.State {
    /// When the session expires, unless it is used before: its tokens open nothing from then on.
    func deadline(_ settings: SessionSettings) -> Int64 {
        settings.deadline(lastUsedAt: lastUsedAt, idleTimeout: record.idleTimeout, expiresAt: record.expiresAt)
    }

    /// When it goes: it may have work that outlives its tokens.
    func end(_ settings: SessionSettings) -> Int64 {
        settings.end(after: deadline(settings), keptUntil: record.times.keptUntil)
    }
}
