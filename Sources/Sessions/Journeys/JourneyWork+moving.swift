import Navigation

// Journeys that move to another session: what happens in each of the two.
extension JourneyWork {
    /// Keeps the digest of a link to a journey.
    ///
    /// - Throws: ``JourneyError/notPortable(_:)``, ``JourneyError/tooManyLinks(limit:)``, and the refusal of a journey
    ///   that is over.
    mutating func add(_ link: JourneyLink, to entry: KeptJourney, until end: Int64) throws {
        try checkMayLeave(entry.journey)
        let (now, known) = (pending.now, kept)
        kept.transfers.links.removeAll { link in
            link.expiresAt <= now || known[link.journey]?.journey.isActive != true
        }
        guard kept.transfers.links.count < JourneyTransfers.maximumLinks else {
            throw JourneyError.tooManyLinks(limit: JourneyTransfers.maximumLinks)
        }
        kept.transfers.links.append(.init(journey: entry.journey.id, digest: link.digest, expiresAt: end))
        try keep()
    }

    private func checkMayLeave(_ journey: Journey) throws {
        switch journey.status {
        case .finished: throw JourneyRefusal.finished(outcome: journey.outcome)
        case .expired: throw JourneyRefusal.expired
        case .active: break
        }
        guard engine.isPortable(journey) else { throw JourneyError.notPortable(journey.flow) }
    }

    /// Takes a journey out of the session and keeps it aside until the other session has it. Its task ends here.
    ///
    /// - Parameters:
    ///   - arrival: what it is called there.
    ///   - task: how far its task is.
    /// - Returns: the same as before when it has left for that session already.
    mutating func depart(
        by claim: JourneyClaim, to target: SessionID, as arrival: String, _ task: StoredTask?
    ) throws -> JourneyTransfers.Departure {
        let known = kept.transfers.departures.last { $0.target == target && claim.names($0, in: kept) }
        if let known { return known }
        let entry = try running(claim)
        let id = entry.journey.id
        try checkMayLeave(entry.journey)
        let departure = JourneyTransfers.Departure(
            journey: id, target: target, arrival: arrival, digest: claim.digest, userID: claim.userID, content: entry,
            links: kept.transfers.links.filter { $0.journey == id },
            task: task?.id.number == entry.journey.task?.number ? task : nil,
            followedUntil: followedUntil(entry.journey))
        // A result that is held goes along.
        endingTask = entry.journey.task?.number
        defer { endingTask = nil }
        note(entry.journey.task, of: entry.journey)
        kept.forget(id)
        kept.transfers.add(departure, now: pending.now)
        try keep()
        return departure
    }

    /// Its task may end as long as the journey lives elsewhere, which is not known here.
    private func followedUntil(_ journey: Journey) -> Int64? {
        guard journey.task != nil else { return nil }
        let time = environment.settings.caseLifetime
        return max(pending.now.later(by: time), engine.keptUntil(of: journey, otherwise: time) ?? .min)
    }

    /// The journey that somebody wants to have, after what time has done to it.
    ///
    /// - Throws: ``JourneyClaim/refusal``, also for one that is over.
    mutating func running(_ claim: JourneyClaim) throws -> KeptJourney {
        guard let id = try journey(namedBy: claim) else { throw claim.refusal }
        do { try settle(id, begins: false) } catch is JourneyRefusal { throw claim.refusal }
        guard let entry = kept[id], entry.journey.isActive else { throw claim.refusal }
        return entry
    }

    func journey(namedBy claim: JourneyClaim) throws -> String? {
        switch claim {
        case .link(let link):
            return kept.transfers.links.first { $0.digest == link.digest && $0.expiresAt > pending.now }?.journey
        case .user(let user, let journey):
            guard let own = pending.details.userID, own.isExactly(user), kept[journey] != nil else { return nil }
            return journey
        }
    }

    /// Takes a journey in that has left another session, once. Its task begins under the name that it has here.
    ///
    /// - Parameters:
    ///   - user: who takes it over; nil for a link. Somebody else may have signed in meanwhile.
    ///   - former: how far the task is.
    /// - Returns: nil when it was taken in before and is not here any more.
    /// - Throws: ``JourneyError/tooMany(limit:)``, ``JourneyError/linkUnusable`` when it was refused before,
    ///   ``JourneyError/notFound(_:)`` for another user.
    mutating func receive(
        _ departed: KeptJourney, as id: String, of user: String?, _ former: StoredTask?
    ) throws -> KeptJourney? {
        let content = departed.journey
        if let arrival = kept.transfers.arrivals.first(where: { $0.journey == id }) {
            guard !arrival.isRefused else { throw JourneyError.linkUnusable }
            return kept[id]
        }
        if hasBeenHere(id) { return kept[id] }
        if let user, !(pending.details.userID?.isExactly(user) ?? false) { throw JourneyError.notFound(content.id) }
        try kept.makeRoom(limit: settings.maxJourneys)
        var journey = content.renamed(id)
        journey.raiseOwned(to: pending.revision)
        journey.isOfUser = pending.hasUser
        let floor = 2 * pending.base.details.revisionFloor
        if journey.step <= floor { journey = journey.continuing(after: floor + 1 - journey.step) }
        journey = journey.withTask(of: content)
        // The credentials were typed elsewhere, so the task signs nobody in here.
        journey.forgetChallenge()
        // It was said to the person who moved it there.
        journey.forgetMessage()
        journey.noteOfTask { notes in
            notes.hasMoved = true
            // The worker's lease is not known here, so no better result is waited for.
            notes.result?.isHeld = true
        }
        let screen = journey.screen?.state
        let history = JourneyHistory.adding(
            .move, by: actor, from: screen, to: screen, at: pending.now, after: departed.history)
        let entry = kept.keep(journey, history: history)
        kept.transfers.add(.init(journey: id, isRefused: false))
        noteTask(of: journey, goingOn: former)
        try keep()
        return try createOwned(of: entry)
    }

    /// The task of a journey that has come begins here, as far as it is.
    private mutating func noteTask(of journey: Journey, goingOn former: StoredTask?) {
        note(nil, of: journey, isKept: true)
        if let former, case .begun(let task)? = pending.taskChanges.last, !task.isKept {
            pending.taskChanges[pending.taskChanges.count - 1] = .begun(task.going(on: former))
        }
    }

    /// Whether a journey is here, or has gone on from here, though its mark may be gone.
    private func hasBeenHere(_ id: String) -> Bool { kept[id] != nil || kept.transfers.departure(of: id) != nil }

    /// Notes that a journey is not taken in, neither now nor later.
    ///
    /// - Returns: false when it was taken in before.
    mutating func refuse(_ id: String) throws -> Bool {
        if let arrival = kept.transfers.arrivals.first(where: { $0.journey == id }) { return arrival.isRefused }
        if hasBeenHere(id) { return false }
        kept.transfers.add(.init(journey: id, isRefused: true))
        try keep(atMost: nil)
        return true
    }

    /// Takes a journey back that the other session has refused, or that has ended. It is as if it had never left.
    mutating func takeBack(_ arrival: String) throws {
        guard let place = kept.transfers.departures.firstIndex(where: { $0.arrival == arrival }),
            let departed = kept.transfers.departures[place].content
        else { return }
        let content = departed.journey
        let departure = kept.transfers.departures[place]
        // Another one of its name may have been begun. Then results for its task are followed to its new name.
        let isFree = kept[content.id] == nil
        if isFree {
            kept.transfers.departures.remove(at: place)
        } else {
            kept.transfers.departures[place].target = pending.base.id
            kept.transfers.departures[place].complete()
        }
        var journey = isFree ? content : content.renamed(arrival)
        // Another person may use the session by now.
        journey.forgetMessage()
        journey.raiseOwned(to: pending.revision)
        let entry = kept.keep(journey, history: departed.history)
        _ = kept.keep(entry.journey.withTask(of: content))
        kept.transfers.links += departure.links.map {
            .init(journey: entry.journey.id, digest: $0.digest, expiresAt: $0.expiresAt)
        }
        noteTask(of: entry.journey.withTask(of: content), goingOn: departure.task)
        try keep(atMost: nil)
    }

    /// Forgets what was kept of a journey that the other session has.
    mutating func forgetDeparted(_ arrival: String) throws {
        guard let place = kept.transfers.departures.firstIndex(where: { $0.arrival == arrival }),
            kept.transfers.departures[place].content != nil
        else { return }
        kept.transfers.departures[place].complete()
        try keep(atMost: nil)
    }
}

/// By what right a journey is moved.
package enum JourneyClaim: Sendable {
    /// A client that has the link may move the journey, once.
    case link(PresentedLink)
    /// The user may move the journeys of sessions in which that user is signed in.
    case user(String, journey: String)

    var digest: SHA256Digest? { if case .link(let link) = self { link.digest } else { nil } }

    /// Nil for a link, which anybody may have.
    var userID: String? { if case .user(let user, _) = self { user } else { nil } }

    /// The error when no journey may be moved. It is the same whether or not the journey exists.
    var refusal: JourneyError {
        switch self {
        case .link: .linkUnusable
        case .user(_, let journey): .notFound(journey)
        }
    }

    /// Whether a journey has left by it.
    func names(_ departure: JourneyTransfers.Departure, in kept: KeptJourneys) -> Bool {
        switch self {
        case .link(let link): departure.digest == link.digest
        // Another journey of that name is the one that is meant now.
        case .user(let user, let journey):
            departure.userID?.isExactly(user) ?? false && departure.journey == journey && kept[journey] == nil
        }
    }
}
