import JSONDocument
import Navigation

/// A journey as it is shown: the view as it is sent, with times of the wall clock.
package final class JourneyText: Sendable {
    package let journey: String
    /// The flow whose screen is on top.
    package let flow: String
    package let bytes: [UInt8]
    /// Changes with everything that the text shows.
    package let etag: ServiceETag
    /// The session's, at which the view holds: it also shows documents of services.
    package let revision: UInt64
    /// That of the documents of the process (``ProcessState/revision``).
    let processRevision: UInt64
    /// When the view may change by itself, in steady time: the journey expires, a screen's time is over, or a service
    /// comes to the end of its lifetime. Nil: never.
    package let dueAt: Int64?
    /// Why the journey cannot go on; nil for one that can.
    package let problem: JourneyRefusal?
    /// See ``ViewText/texts``.
    package let texts: [PlacedText]

    /// Longer ones are not remembered.
    static let mostRememberedBytes = 4 << 10

    init(
        of journey: Journey, bytes: [UInt8], etag: ServiceETag, revision: UInt64, processRevision: UInt64,
        dueAt: Int64?, problem: JourneyRefusal? = nil, texts: [PlacedText]
    ) {
        self.journey = journey.id
        flow = journey.screen?.flow ?? journey.flow
        self.bytes = bytes
        self.etag = etag
        self.revision = revision
        self.processRevision = processRevision
        self.dueAt = dueAt
        self.problem = problem
        self.texts = texts
    }

    /// The view as values, read from the text.
    package var view: JourneyView { JourneyView(json: bytes) }

    /// Whether that is the journey's id.
    func isOf(_ id: UnsafeRawBufferPointer) -> Bool {
        journey.utf8.count == id.count && id.elementsEqual(journey.utf8)
    }
}

/// A journey as it is shown, with what a client needs to draw the forms of its screen.
package struct JourneyForm: Sendable {
    package let text: JourneyText
    /// The schema that the data of each event must have.
    package let schemas: EventSchemas
    /// Where the last step has led, if one was taken.
    package let way: JourneyWay?

    package init(text: JourneyText, schemas: EventSchemas = EventSchemas(), way: JourneyWay? = nil) {
        self.text = text
        self.schemas = schemas
        self.way = way
    }
}

extension JourneyWork {
    mutating func form(of entry: KeptJourney, withSchemas: Bool) throws -> JourneyForm {
        withSchemas ? try form(of: entry) : JourneyForm(text: try text(of: entry), way: way)
    }

    /// - Parameter work: see ``FlowEngine/eventSchemas(of:services:now:work:)``.
    mutating func form(of entry: KeptJourney, work: Int = EventSchemas.mostWork) throws -> JourneyForm {
        let text = try text(of: entry)
        if text.problem != nil { return JourneyForm(text: text, schemas: EventSchemas(work: work), way: way) }
        let schemas = try engine.eventSchemas(of: entry.journey, services: documents, now: pending.now, work: work)
        return JourneyForm(text: text, schemas: schemas, way: way)
    }
}
