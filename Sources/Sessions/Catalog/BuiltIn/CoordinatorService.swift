import JSONDocument
import Navigation

/// The session's coordinator, which keeps the session's journeys.
///
/// Its state is committed together with everything else that a step changes. Clients, including admins, only read it,
/// as a summary; ``Session/send(_:data:toJourney:condition:)`` and similar calls change journeys.
enum CoordinatorService {
    static let name = "coordinator"

    static let definition = ServiceDefinition(
        document: name, kind: "coordinator",
        schema: [
            "type": "object",
            "required": ["journeys"],
            "properties": ["journeys": ["type": "array"]],
        ],
        default: ["journeys": []], isReadOnly: true, isOpenToFlows: false, presentation: .journeys, isOwnable: false)
}

/// How the state of a service is sent when that differs from what is kept. Only the program writes such a service.
///
/// Its default is kept and sent unchanged.
/// Its default is shown as it is, and kept as it is.
package struct ServicePresentation: Sendable {
    /// - Parameters:
    ///   - kept: the bytes of the document.
    ///   - shown: converts steady time to the time that is shown.
    /// - Returns: the bytes to send; `nil` when the kept bytes cannot be read.
    let show: @Sendable (_ kept: [UInt8], _ shown: (Int64) -> Timestamp) -> [UInt8]?
}

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
        member("id", journey.id)
        member("flow", journey.flow)
        member("version", journey.version)
        member("status", journey.status.rawValue)
        member("step", journey.step)
        name("screen")
        if let screen = journey.top?.state { string(screen) } else { null() }
        name("outcome")
        if let outcome = journey.outcome { string(outcome) } else { null() }
        member("started_at", shown(journey.startedAt).description)
        member("moved_at", shown(journey.movedAt).description)
        name("expires_at")
        if let expiry = journey.expiresAt { string(shown(expiry).description) } else { null() }
        endObject()
    }
}
