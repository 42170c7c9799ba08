import Navigation

/// Where a journey stands, as far as stores have an index of it. A flow has few of them, and many journeys share one.
package struct JourneyPlace: Sendable, Hashable, Comparable {
    /// Those of the journey itself, whatever child flow runs.
    package let flow: String
    package let version: Int
    /// The state of ``flow``: of the top screen, or the one whose child flow runs. Empty for a journey that is over.
    package let state: String
    package let standing: JourneyStanding

    package init(flow: String, version: Int, state: String, standing: JourneyStanding) {
        (self.flow, self.version, self.state, self.standing) = (flow, version, state, standing)
    }

    /// Its name in a store. Ids have no blanks.
    package var text: String { "\(flow) \(version) \(state) \(standing.rawValue)" }

    package init?(text: String) {
        let parts = text.split(separator: " ", omittingEmptySubsequences: false)
        guard parts.count == 4, let version = Int(parts[1]), let standing = JourneyStanding(rawValue: String(parts[3]))
        else { return nil }
        self.init(flow: String(parts[0]), version: version, state: String(parts[2]), standing: standing)
    }

    package static func < (left: Self, right: Self) -> Bool {
        (left.flow, left.version, left.state, left.standing.rawValue)
            < (right.flow, right.version, right.state, right.standing.rawValue)
    }
}

/// What a journey waits for, for operators.
package enum JourneyStanding: String, Sendable, CaseIterable {
    /// For a person, a back end or the time.
    case active
    /// For a task that is to be done, or that somebody does.
    case busy
    /// For an operator: a result of its task is kept that the flow could not take.
    case held
    /// For an operator: a version that it needs is gone, it cannot move to a newer one, or its flow does not take that
    /// the attempts of its task have failed.
    case stuck
    /// For nothing: it is over.
    case finished
}

/// A session with the places of its journeys, one for each, for the index of a store.
package struct PlacedSession: Sendable {
    package let id: SessionID
    /// That of the record from which they follow.
    package let revision: UInt64
    package let places: [JourneyPlace]

    package init(_ id: SessionID, revision: UInt64, places: [JourneyPlace]) {
        (self.id, self.revision, self.places) = (id, revision, places)
    }
}

extension SessionEnvironment {
    func placed(_ record: SessionRecord, _ kept: KeptJourneys?) -> PlacedSession {
        PlacedSession(
            record.id, revision: record.revision,
            places: kept?.journeys.map { place(of: $0, in: record) } ?? [])
    }

    func place(of journey: Journey, in record: SessionRecord) -> JourneyPlace {
        JourneyPlace(
            flow: journey.flow, version: journey.version, state: journey.ownState ?? "",
            standing: standing(of: journey, in: record))
    }

    private func standing(of journey: Journey, in record: SessionRecord) -> JourneyStanding {
        guard journey.isActive else { return .finished }
        if let result = journey.task?.result, result.isHeld { return result.isReported ? .held : .stuck }
        let definitions = definitions
        let documents = SessionDocuments(record.services, self, definitions)
        let obstacle = definitions.journeys.engine.obstacle(to: journey, services: documents, now: clock.now())
        guard obstacle == nil else { return .stuck }
        return journey.task == nil ? .active : .busy
    }
}
