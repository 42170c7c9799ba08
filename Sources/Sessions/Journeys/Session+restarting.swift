import JSONDocument
import Navigation

extension Session {
    /// What has to be given to start a journey over with its flow: the schema of the flow's input.
    ///
    /// - Returns: nil when nothing has to be given, and when there is no such journey or flow.
    package func inputNeeded(toRestart id: String) -> JSONDocument? {
        guard let work = try? JourneyWork(on: try pendingState(), environment), let journey = work.kept[id]?.journey,
            let rule = environment.journeys.engine.catalog.flow(journey.flow)?.input
        else { return nil }
        // Not a conditional expression: its nil would be the document `null`.
        if rule.accepts(journey.inputToRestart) { return nil }
        return rule.document
    }
}

extension Journey {
    /// What its own flow was given. One that is over has forgotten it.
    var inputToRestart: JSONDocument { coordinators.first?.input ?? .emptyObject }
}
