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
    ///   - end: until when one of them waits for something that outlives the token.
    func following(due next: Int64?, kept end: Int64?, now: Int64) -> SessionTimes {
        let due = next.map { dueAt > now ? min(dueAt, $0) : $0 } ?? .max
        return SessionTimes(dueAt: due, keptUntil: end ?? min(keptUntil, now))
    }
}

extension SessionEnvironment {
    /// - Parameter former: as the store has them.
    func times(of kept: KeptJourneys, after former: SessionTimes, now: Int64) -> SessionTimes {
        var (due, end) = (Int64?.none, Int64?.none)
        for entry in kept.entries where entry.journey.isActive {
            due = earlier(due, entry.journey.dueAt)
            // Most journeys wait for a person, and this copies none.
            guard entry.journey.task != nil || journeys.engine.catalog.hasLives else { continue }
            if let kept = journeys.engine.keptUntil(of: entry.journey, otherwise: settings.caseLifetime) {
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
        return former.following(due: due, kept: end, now: now)
    }

    /// A move takes no longer, unless a server or a store fails meanwhile.
    static let timeToMove: Int64 = 5_000

    /// Those of a record whose journeys are known and whose times are not.
    func times(of record: SessionRecord) -> SessionTimes {
        guard let kept = journeys(of: record) else { return .none }
        return times(of: kept, after: .none, now: clock.now())
    }

    /// Nil when it has none that can be read.
    func journeys(of record: SessionRecord) -> KeptJourneys? {
        guard let coordinator = try? coordinator, let document = record.document(of: coordinator.index) else {
            return nil
        }
        return try? KeptJourneys(reading: document.bytes)
    }
}

extension SessionSettings {
    /// When a session goes whose token ends at a time: not before its work is done, and what came of it could be looked
    /// at for a while.
    func end(after deadline: Int64, _ times: SessionTimes) -> Int64 {
        times.keptUntil == .min ? deadline : max(deadline, times.keptUntil.later(by: expiredRetention))
    }
}

extension StoredSession {
    /// Whether a token opens it.
    func isUsable(_ settings: SessionSettings, now: Int64) -> Bool {
        record.token != .ofNobody && !record.hasEnded && deadline(settings) > now
    }

    /// When it expires, unless it is used before: its tokens open nothing from then on.
    func deadline(_ settings: SessionSettings) -> Int64 {
        min(lastUsedAt + settings.idleTimeout + settings.useLag, record.expiresAt)
    }

    /// When it goes: it may have work that outlives its tokens.
    func end(_ settings: SessionSettings) -> Int64 { settings.end(after: deadline(settings), record.times) }
}

extension Session.State {
    /// When the session expires, unless it is used before: its tokens open nothing from then on.
    func deadline(_ settings: SessionSettings) -> Int64 {
        min(lastUsedAt + settings.idleTimeout + settings.useLag, record.expiresAt)
    }

    /// When it goes: it may have work that outlives its tokens.
    func end(_ settings: SessionSettings) -> Int64 { settings.end(after: deadline(settings), record.times) }
}
