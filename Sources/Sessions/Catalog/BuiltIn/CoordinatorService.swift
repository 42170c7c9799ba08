import JSONDocument
import Navigation

/// The session's coordinator, which keeps the session's journeys.
///
/// Its state is committed together with everything else that a step changes. Clients, including admins, only read it,
/// as a summary; ``Session/send(_:data:toJourney:condition:)`` and similar calls change journeys.
package enum CoordinatorService {
    package static let name = "coordinator"

    static let definition = ServiceDefinition(
        document: name, kind: "coordinator",
        schema: [
            "type": "object",
            "required": ["journeys"],
            "properties": ["journeys": ["type": "array"]],
        ],
        default: ["journeys": []], isReadOnly: true, isOpenToFlows: false, isKeptOtherwise: true, isOwnable: false)

    /// What clients are shown: a line for each journey.
    ///
    /// - Parameter shown: converts steady time to the time that is shown.
    /// - Returns: `nil` when the kept bytes cannot be read.
    static func summary(of kept: [UInt8], _ shown: (Int64) -> Timestamp) -> [UInt8]? {
        guard let kept = try? KeptJourneys(reading: kept) else { return nil }
        var json = JSONWriter()
        json.beginObject()
        json.array("journeys") { json in
            for journey in kept.journeys { json.summary(of: journey, shown) }
        }
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
        if let screen = journey.screen?.state { string(screen) } else { null() }
        name("outcome")
        if let outcome = journey.outcome { string(outcome) } else { null() }
        member("started_at", shown(journey.startedAt).description)
        member("moved_at", shown(journey.movedAt).description)
        name("expires_at")
        if let expiry = journey.expiresAt { string(shown(expiry).description) } else { null() }
        endObject()
    }
}
