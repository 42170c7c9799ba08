import JSONDocument

/// A journey as it is shown, with what a client needs to draw the forms of its screen.
package struct JourneyForm: Sendable {
    package let text: JourneyText
    /// The schema that the data of each event must have.
    package let schemas: [String: JSONDocument]

    package init(text: JourneyText, schemas: [String: JSONDocument]) {
        self.text = text
        self.schemas = schemas
    }
}

extension JourneyWork {
    mutating func form(of entry: KeptJourney, withSchemas: Bool) throws -> JourneyForm {
        withSchemas ? try form(of: entry) : JourneyForm(text: try text(of: entry), schemas: [:])
    }

    mutating func form(of entry: KeptJourney) throws -> JourneyForm {
        let text = try text(of: entry)
        if text.problem != nil { return JourneyForm(text: text, schemas: [:]) }
        let schemas = try engine.eventSchemas(of: entry.journey, services: documents, now: pending.now)
        return JourneyForm(text: text, schemas: schemas)
    }
}
