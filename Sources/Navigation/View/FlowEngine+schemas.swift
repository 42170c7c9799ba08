import JSONDocument

extension FlowEngine {
    /// The schema that the data of each event must have, for the events that the view of a journey lists. An event that
    /// takes any data has an empty one.
    package func eventSchemas(
        of journey: Journey, services: any ServiceDocuments, now: Int64
    ) throws(JourneyRefusal) -> [String: JSONDocument] {
        var run = StepRun(self, journey, services, now: now, event: .unknown)
        guard journey.isActive else { return [:] }
        let reactions = try run.reactions()
        return Dictionary(
            reactions.map { ($0.rule.event, $0.shape?.document ?? .emptyObject) },
            uniquingKeysWith: { first, _ in first })
    }
}
