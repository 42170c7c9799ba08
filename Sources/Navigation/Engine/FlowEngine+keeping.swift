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
}
