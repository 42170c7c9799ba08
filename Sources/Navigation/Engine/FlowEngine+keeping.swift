extension FlowEngine {
    /// Until when a session must stay for a journey though nobody uses the session: the journey waits for its task, or
    /// for a time in a flow with ``FlowDefinition/lives``. Nil when it waits for a person only.
    ///
    /// `lives` counts from the start of the flow, and its longest on the stack holds. Without it the time counts from
    /// the journey's last step.
    ///
    /// - Parameter time: for how many milliseconds it stays where no flow says so.
    public func keptUntil(of journey: Journey, otherwise time: Int64) -> Int64? {
        guard journey.isActive, journey.task != nil || (catalog.hasLives && journey.dueAt != nil) else { return nil }
        var end: Int64?
        for place in journey.coordinators.indices where catalog.hasLives {
            guard let lives = catalog.flow(of: journey.coordinators, at: place)?.lives else { continue }
            end = max(end ?? .min, journey.coordinators[place].startedAt.later(by: lives))
        }
        return end ?? (journey.task == nil ? nil : journey.movedAt.later(by: time))
    }

    /// Whether the journey has to end before its session is gone: an `exit` records a task or calls a command.
    package func hasLastingExit(_ journey: Journey) -> Bool {
        guard catalog.hasLastingExits, journey.isActive else { return false }
        return journey.coordinators.indices.contains { place in
            catalog.flow(of: journey.coordinators, at: place)?.hasLastingExit ?? false
        }
    }

    /// Ends a journey whose session is over, as if its own time were.
    ///
    /// - Throws: ``JourneyRefusal/orphaned(flow:version:)`` when what it runs cannot be read.
    package func expire(
        _ journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> Step {
        var run = StepRun(self, journey, services, now: now)
        try run.expireJourney()
        return try run.finish()
    }
}
