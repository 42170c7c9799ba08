import JSONDocument

/// A journey as it is shown, with what a client needs to draw the forms of its screen.
package struct JourneyForm: Sendable {
    package let text: JourneyText
    /// The schema that the data of each event must have.
    package let schemas: [String: JSONDocument]
}

extension JourneyWork {
    mutating func form(of entry: KeptJourney) throws -> JourneyForm {
        let schemas = try engine.eventSchemas(of: entry.journey, services: documents, now: pending.now)
        return JourneyForm(text: try text(of: entry), schemas: schemas)
    }
}
