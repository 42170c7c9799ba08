import Navigation

/// Moves journeys from one session to another.
///
/// ```
///   source                                    target
///   1 the journey is kept aside   ──────────▶ 2 the journey is there, with a mark
///   3 it is forgotten
/// ```
///
/// From 1 on the source says that the journey has moved. A server that finds it kept aside brings it to the target. The
/// target takes it once, which its new name there shows. So a crash anywhere leaves the journey at one place.
extension Sessions {
    /// Takes a journey over. In the session that has it, it stays as it is.
    ///
    /// - Parameters:
    ///   - id: the session that has it.
    ///   - once: the request, if its copies must not be executed again.
    /// - Throws: ``JourneyError``, `JourneyRefusal`, ``SessionError``.
    package func moveJourney(
        _ claim: JourneyClaim, of id: SessionID, into target: Session, withSchemas: Bool = false,
        once: Once<JourneyForm>? = nil
    ) async throws -> JourneyForm {
        guard id != target.id else {
            return try await target.journeyHere(by: claim, withSchemas: withSchemas, once: once)
        }
        guard let source = try await session(id) else { throw claim.refusal }
        let departure: JourneyTransfers.Departure
        do {
            try await target.checkRoomForJourney()
            let task = try source.task(ofJourneyBy: claim)
            var standing: StoredTask?
            if let task { standing = try await reserve(task) }
            departure = try await source.departJourney(by: claim, to: target.id, standing)
        } catch SessionError.ended {
            throw claim.refusal
        }
        guard departure.content != nil else {
            return try await target.journeyForm(departure.arrival)
        }
        do {
            return try await bring(departure, from: source, to: target, withSchemas: withSchemas, once: once)
        } catch {
            // It is tried again with the next sweep, if there is still something to do.
            environment.movesUnderWay.withLock { _ = $0.insert(source.id) }
            throw error
        }
    }

    /// How far a task is whose journey is about to leave. It is not handed out meanwhile, or two workers would have
    /// it. If the journey stays, the task is ready again a little later.
    private func reserve(_ id: TaskID) async throws -> StoredTask? {
        let now = environment.clock.now()
        guard let former = try await update(id, .look) else { return nil }
        let end = now.later(by: SessionEnvironment.timeToMove)
        guard let task = try await update(id, .reserve(now: now, until: end)) else { return nil }
        guard task.due == end, !task.isClaimed || task.attempt == former.attempt else { return task }
        return task.ready(at: former.due)
    }

    /// Steps 2 and 3. Where the target refuses the journey, or has ended, it returns.
    private func bring(
        _ departure: JourneyTransfers.Departure, from source: Session, to target: Session, withSchemas: Bool = false,
        once: Once<JourneyForm>? = nil
    ) async throws -> JourneyForm {
        let form: JourneyForm
        do {
            form = try await target.receive(departure, withSchemas: withSchemas, once: once)
        } catch let error where Self.isFinal(error) {
            if try await isRefused(departure, by: target) {
                try await source.takeBackJourney(departure.arrival)
                throw error
            }
            // It has been there: another copy has brought it meanwhile, when the target had room again.
            try await source.forgetDeparted(departure.arrival)
            return try await target.receive(departure, withSchemas: withSchemas, once: once)
        }
        // The journey is there, whatever becomes of the rest.
        do {
            try await source.forgetDeparted(departure.arrival)
        } catch {
            environment.movesUnderWay.withLock { _ = $0.insert(source.id) }
        }
        return form
    }

    /// Makes sure that nobody else brings the journey there while it returns.
    private func isRefused(_ departure: JourneyTransfers.Departure, by target: Session) async throws -> Bool {
        do {
            return try await target.refuseJourney(departure.arrival)
        } catch SessionError.ended {
            return true
        }
    }

    /// Whether trying again does not help.
    private static func isFinal(_ error: any Error) -> Bool {
        switch error {
        case is JourneyError: true
        case let error as SessionError: !error.isTemporary
        default: false
        }
    }

    /// The journeys of all sessions in which a user is signed in.
    package func journeys(
        ofUser userID: String
    ) async throws -> [(session: SessionID, text: JourneyText, isPortable: Bool)] {
        var found: [(session: SessionID, text: JourneyText, isPortable: Bool)] = []
        // Also of those that only live on for their work.
        for stored in try await stored(ofUser: userID) {
            // One that cannot be read hides no other.
            guard let session = try? await session(stored.record.id), let texts = try? await session.journeys(),
                let portable = try? session.portableJourneys()
            else { continue }
            // Somebody else may have signed in since the store was asked. That ends the journeys of the user before.
            guard session.identity.userID?.isExactly(userID) ?? false else { continue }
            found += texts.map { (session.id, $0, portable.contains($0.journey)) }
        }
        return found
    }

    /// Brings journeys to where they were going when a server or a store failed.
    package func finishMoves() async {
        let sources = environment.movesUnderWay.withLock { $0 }
        for id in sources {
            do {
                try await finishMoves(of: id)
                environment.movesUnderWay.withLock { _ = $0.remove(id) }
            } catch {}
        }
    }

    func finishMoves(of id: SessionID) async throws {
        guard let source = try await session(id) else { return }
        var failure: (any Error)?
        for departure in try source.departuresUnderWay() {
            // One that cannot be brought keeps no other waiting.
            do { try await finish(departure, from: source) } catch { failure = failure ?? error }
        }
        if let failure { throw failure }
    }

    private func finish(_ departure: JourneyTransfers.Departure, from source: Session) async throws {
        if let target = try await session(departure.target) {
            _ = try await bring(departure, from: source, to: target)
        } else if try await hasArrived(departure) {
            try await source.forgetDeparted(departure.arrival)
        } else {
            try await source.takeBackJourney(departure.arrival)
        }
    }

    /// Whether a session that has expired, and that the store still has, has taken the journey in.
    private func hasArrived(_ departure: JourneyTransfers.Departure) async throws -> Bool {
        let stored = try await environment.ask { store throws(StoreError) in try await store.load(departure.target) }
        guard let stored, let coordinator = try? environment.definitions.coordinator,
            let document = stored.record.document(of: coordinator.index)
        else { return false }
        let kept = try KeptJourneys(reading: document.bytes)
        return kept.transfers.arrivals.contains { $0.journey == departure.arrival && !$0.isRefused }
    }

    /// Does what somebody outside says of a task, wherever its journey has moved to: what was done is done.
    ///
    /// - Parameter body: gets the id that the task has there.
    /// - Throws: ``TaskError/over`` when the task is to be found nowhere.
    func following<Done>(_ task: TaskID, _ body: (TaskID) async throws -> Done) async throws -> Done {
        do {
            return try await body(task)
        } catch TaskError.over {
            for place in try await places(ofMoved: task) {
                do { return try await following(place, body) } catch TaskError.over {}
            }
            // It may have been on its way at the first look, and have been taken back since.
            return try await body(task)
        }
    }

    /// The session from which the journey came may be open, may have expired, or be deleted
    /// (``SessionRecord/hasEnded``).
    private func places(ofMoved task: TaskID) async throws -> [TaskID] {
        do {
            return try await ofTask(task) { try $0.places(ofMoved: task) }
        } catch TaskError.over {
            let stored = try await environment.ask { store throws(StoreError) in try await store.load(task.session) }
            return try stored.flatMap { environment.journeys(of: $0.record) }?.transfers.places(ofMoved: task) ?? []
        }
    }
}

extension SessionEnvironment {
    /// Notes that a session that was loaded has journeys under way to others.
    func noteMoves(of record: SessionRecord) {
        guard let coordinator = try? definitions.coordinator,
            let document = record.document(of: coordinator.index)
        else { return }
        guard KeptJourneys.mayHaveTransfers(document.bytes), let kept = try? KeptJourneys(reading: document.bytes),
            kept.transfers.departures.contains(where: { $0.content != nil })
        else { return }
        movesUnderWay.withLock { _ = $0.insert(record.id) }
    }
}
