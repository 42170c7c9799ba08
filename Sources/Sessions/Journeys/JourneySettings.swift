import Navigation

/// What journeys run by, handed to ``Sessions`` at start.
package struct JourneySettings: Sendable {
    package let engine: FlowEngine
    /// The flow of the journey ``mainID``, which is started when it is first asked for; nil when it has to be started.
    package let mainFlow: String?
    /// How many journeys a session keeps, those that are over among them; bounds what one session can take.
    package let maxJourneys: Int

    /// The journey that every session can have without asking for an id.
    package static let mainID = "main"

    package init(
        engine: FlowEngine = FlowEngine(catalog: .empty), mainFlow: String? = nil, maxJourneys: Int = 16
    ) {
        self.engine = engine
        self.mainFlow = mainFlow
        self.maxJourneys = maxJourneys
    }
}
