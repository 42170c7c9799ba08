import JSONDocument
import Navigation

/// Journeys that move to another session. ``Sessions/moveJourney(_:of:into:withSchemas:once:)`` has the order of the
/// units.
extension Session {
    /// Makes a link by which a journey can be taken to another session, once.
    ///
    /// - Parameter lifetime: milliseconds.
    nonisolated(nonsending) package func makeLink(
        toJourney id: String, lifetime: Int64, once: Once<IssuedLink>? = nil
    ) async throws -> IssuedLink {
        let link = JourneyLink(to: self.id, random: environment.random)
        return try await drive(id, begins: false, once: once) { [environment] work in
            let end = work.pending.now.later(by: lifetime)
            try work.add(link, to: try work.journey(id), until: end)
            return IssuedLink(link: link, expiresAt: environment.timestamp(end))
        }
    }

    /// Whether one more journey can come, as far as the number of journeys says.
    nonisolated(nonsending) func checkRoomForJourney() async throws {
        try await drive(nil) { work in
            var kept = work.kept
            try kept.makeRoom(limit: work.pending.definitions.journeys.maxJourneys)
        }
    }

    /// - Parameter task: that of the journey, as the store has it.
    nonisolated(nonsending) func departJourney(
        by claim: JourneyClaim, to target: SessionID, _ task: StoredTask?
    ) async throws -> JourneyTransfers.Departure {
        let arrival = JourneyID.make(environment.random)
        return try await drive(nil) { try $0.depart(by: claim, to: target, as: arrival, task) }
    }

    /// - Parameter once: the request, if its copies must not be executed again.
    nonisolated(nonsending) func receive(
        _ departure: JourneyTransfers.Departure, withSchemas: Bool, once: Once<JourneyForm>?
    ) async throws -> JourneyForm {
        try await drive(nil, once: once) { work in
            guard let content = departure.content,
                let entry = try work.receive(content, as: departure.arrival, of: departure.userID, departure.task)
            else { throw JourneyError.linkUnusable }
            // The user, the session and the time may be others here.
            try work.advanceIfPossible(entry)
            return try work.form(of: work.kept[departure.arrival] ?? entry, withSchemas: withSchemas)
        }
    }

    /// A journey that is to go on in the session that has it: nothing moves, and a link stays good.
    nonisolated(nonsending) func journeyHere(
        by claim: JourneyClaim, withSchemas: Bool, once: Once<JourneyForm>?
    ) async throws -> JourneyForm {
        try await drive(nil, once: once) { work in
            try work.form(of: try work.running(claim), withSchemas: withSchemas)
        }
    }

    /// The task that the journey of a claim waits for; nil for none.
    func task(ofJourneyBy claim: JourneyClaim) throws -> TaskID? {
        let work = try JourneyWork(on: try pendingState(), environment)
        guard let journey = try work.journey(namedBy: claim), let task = work.kept[journey]?.journey.task else {
            return nil
        }
        return TaskID(session: id, journey: journey, number: task.number)
    }

    nonisolated(nonsending) func refuseJourney(_ arrival: String) async throws -> Bool {
        try await drive(nil) { try $0.refuse(arrival) }
    }

    nonisolated(nonsending) func takeBackJourney(_ arrival: String) async throws {
        try await drive(nil) { try $0.takeBack(arrival) }
    }

    nonisolated(nonsending) func forgetDeparted(_ arrival: String) async throws {
        try await drive(nil) { try $0.forgetDeparted(arrival) }
    }

    /// The journeys that may move.
    func portableJourneys() throws -> Set<String> {
        let work = try JourneyWork(on: try pendingState(), environment)
        return Set(work.kept.journeys.filter { $0.isActive && work.engine.isPortable($0) }.map(\.id))
    }

    var isMovingJourneys: Bool {
        (try? JourneyWork(on: try pendingState(), environment).kept.isMovingJourneys) ?? false
    }

    /// Journeys that have left and that the other session may not have yet.
    func departuresUnderWay() throws -> [JourneyTransfers.Departure] {
        try JourneyWork(on: try pendingState(), environment).kept.transfers.departures.filter { $0.content != nil }
    }

    /// See ``JourneyTransfers/places(ofMoved:)``.
    func places(ofMoved task: TaskID) throws -> [TaskID] {
        try JourneyWork(on: try pendingState(), environment).kept.transfers.places(ofMoved: task)
    }

    /// Whether a link was not used, and leads to a journey that runs.
    package func isGood(_ link: SHA256Digest) -> Bool {
        guard let work = try? JourneyWork(on: try pendingState(), environment) else { return false }
        return work.kept.transfers.links.contains { kept in
            kept.digest == link && kept.expiresAt > work.pending.now
                && work.kept[kept.journey]?.journey.isActive ?? false
        }
    }
}

/// A link, and until when it can be used.
package struct IssuedLink: Sendable {
    package let link: JourneyLink
    package let expiresAt: Timestamp
}
