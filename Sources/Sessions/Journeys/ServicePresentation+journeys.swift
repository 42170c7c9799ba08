import JSONDocument
import Navigation

extension ServicePresentation {
    /// The state of `coordinator`: a line for each journey.
    static let journeys = ServicePresentation { kept, shown in
        guard let kept = try? KeptJourneys(reading: kept) else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.name("journeys")
        json.beginArray()
        for journey in kept.journeys { json.summary(of: journey, shown) }
        json.endArray()
        json.endObject()
        return json.bytes
    }
}

extension JSONWriter {
    fileprivate mutating func summary(of journey: Journey, _ shown: (Int64) -> Timestamp) {
        beginObject()
        name("id")
        string(journey.id)
        name("flow")
        string(journey.flow)
        name("version")
        int(journey.version)
        name("status")
        string(journey.status.rawValue)
        name("step")
        uint(journey.step)
        name("screen")
        if let screen = journey.top?.state { string(screen) } else { null() }
        name("outcome")
        if let outcome = journey.outcome { string(outcome) } else { null() }
        name("started_at")
        string(shown(journey.startedAt).description)
        name("moved_at")
        string(shown(journey.movedAt).description)
        name("expires_at")
        if let expiry = journey.expiresAt { string(shown(expiry).description) } else { null() }
        endObject()
    }
}
