import Navigation

/// How journeys end that do not end themselves.
extension JourneyWork {
    /// Gives a journey up. A change of a service that cannot be made is left out. So are all changes when one of them
    /// needs a service that cannot be read: they would be made from its default.
    mutating func abandon(_ entry: KeptJourney) throws(SessionError) {
        let journey = entry.journey
        var last = journey.step
        if journey.isActive {
            let step = engine.abandon(journey, services: documents, now: pending.now)
            if documents.takeFailure() == nil {
                for change in step.changes { try? make(change) }
            }
            if !step.sideTasks.isEmpty {
                record(step.sideTasks, of: step.journey)
                last = step.journey.step
            }
        }
        note(journey.task, of: journey)
        kept.forget(journey.id, after: last)
        try keep(atMost: nil)
    }

    /// Ends the journeys of a session that is over, the newest first. What an `exit` records is still done.
    mutating func expireAll() throws {
        for entry in kept.entries.reversed() where entry.journey.isActive {
            // One that cannot be read has nothing left to do.
            guard let step = try? engine.expire(entry.journey, services: documents, now: pending.now) else { continue }
            try take(step, .timer)
        }
    }
}
