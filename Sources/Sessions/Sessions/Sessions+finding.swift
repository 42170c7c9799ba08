import Navigation

/// Which journeys of all sessions an operator looks for. Nil is any.
package struct JourneyQuery: Sendable {
    package var flow: String?
    package var version: Int?
    package var state: String?
    package var standing: JourneyStanding?
    package var userID: String?
    package var label: (name: String, value: String)?
    /// Only those whose last step was taken before that time.
    package var before: Int64?
    package var after: JourneyCursor?
    package let limit: Int

    package init(limit: Int) { self.limit = limit }

    func fits(_ place: JourneyPlace) -> Bool {
        (flow.map { $0 == place.flow } ?? true) && (version.map { $0 == place.version } ?? true)
            && (state.map { $0 == place.state } ?? true) && (standing.map { $0 == place.standing } ?? true)
    }

    fileprivate func fits(_ record: SessionRecord) -> Bool {
        (userID.map { record.userID?.isExactly($0) ?? false } ?? true)
            && (label.map { record.details.labels[$0.name]?.isExactly($0.value) ?? false } ?? true)
    }
}

/// A place in the list of all journeys: in the store's order of sessions, those of one by their ids.
package struct JourneyCursor: Sendable {
    let session: SessionID
    let journey: String

    init(_ session: SessionID, _ journey: String) { (self.session, self.journey) = (session, journey) }

    /// After all journeys of a session: no id of one comes later.
    init(behind session: SessionID) { self.init(session, "~") }

    package var text: String { "\(session)-\(journey)" }

    /// - Throws: ``SessionError/malformedCursor``.
    package init(text: String) throws(SessionError) {
        let parts = text.split(separator: "-", maxSplits: 1)
        guard parts.count == 2, let session = SessionID(String(parts[0])),
            parts[1] == "~" || JourneyID.isOne(String(parts[1]))
        else { throw .malformedCursor }
        self.init(session, String(parts[1]))
    }
}

/// A journey in the list of all.
package struct FoundJourney: Sendable {
    package let session: SessionID
    package let userID: String?
    package let journey: Journey
    package let place: JourneyPlace
}

// Stores have an index of where journeys stand. An event does not pay for it: each process notes the sessions whose
// journeys it has moved, and tells the store once a second, and before it looks for journeys itself.
extension Sessions {
    /// Keeps the index of journeys up to date, until the task is cancelled.
    package func runPlaces() async {
        var next: SessionID?
        while !Task.isCancelled {
            await placeJourneys()
            await restorePlaces(from: &next)
            try? await environment.clock.sleep(milliseconds: Self.placeInterval)
        }
        // The store is still open.
        await placeJourneys()
    }

    private static let placeInterval: Int64 = 1_000
    /// How many sessions are placed in one transaction. Clients' writes may have to wait for it.
    private static let placeBatch = 256
    /// How many sessions are looked at in each interval where the index may be wrong.
    private static let restoredPlaces = 10_000

    /// Tells the store where the journeys stand that this process has moved.
    package func placeJourneys() async {
        var rest = Array(
            environment.movedSessions.withLock { moved in
                defer { moved = [] }
                return moved
            })[...]
        while !rest.isEmpty {
            let batch = rest.prefix(Self.placeBatch)
            do {
                var placed: [PlacedSession] = []
                for id in batch { placed.append(try await self.placed(id)) }
                try await place(placed)
            } catch {
                // It is tried again with the next sweep.
                return environment.movedSessions.withLock { $0.formUnion(rest) }
            }
            rest = rest.dropFirst(batch.count)
        }
    }

    private func placed(_ id: SessionID) async throws(SessionError) -> PlacedSession {
        let (index, resident) = (catalog[CoordinatorService.name]?.index, registry[id])
        let known: (SessionRecord, JourneyMemory?)? = resident?.state.withLock {
            $0.isEnded ? nil : ($0.record, $0.memory)
        }
        if let (record, memory) = known {
            let document = index.flatMap(record.document(of:))
            return environment.placed(
                record, document.flatMap { memory?.journeys(keptAs: $0.bytes) } ?? environment.journeys(of: record))
        }
        let stored: StoredSession? = try await environment.ask { store throws(StoreError) in
            // What nobody can read is found nowhere.
            do throws(StoreError) { return try await store.load(id) } catch .damaged { return nil }
        }
        guard let record = stored?.record else { return PlacedSession(id, revision: .max, places: []) }
        return environment.placed(record, environment.journeys(of: record))
    }

    private func place(_ sessions: [PlacedSession]) async throws(SessionError) {
        let changed = try await environment.ask { store throws(StoreError) in
            try await store.journeyIndex.place(sessions)
        }
        if !changed.isEmpty { environment.movedSessions.withLock { $0.formUnion(changed) } }
    }

    /// Derives the index anew from a part of the sessions, if the store does not know whether it is right.
    ///
    /// - Parameter next: where the part begins and the next one will; nil for the first session.
    package func restorePlaces(from next: inout SessionID?) async {
        guard let store = environment.store as? any FileStore else { return }
        var left = Self.restoredPlaces
        while left > 0, store.hasLostPlaces, !Task.isCancelled {
            do {
                let page = try await store.page(after: next, limit: Self.placeBatch)
                try await place(
                    page.sessions.map { environment.placed($0.record, environment.journeys(of: $0.record)) })
                if page.next == nil { try await store.notePlacesAreKnown() }
                next = page.next
                left -= page.sessions.count
            } catch {
                // It is tried again with the next sweep.
                return
            }
            await Task.yield()
        }
    }

    // MARK: - Looking

    /// How many journeys stand where.
    package func journeyCounts() async throws(SessionError) -> [JourneyPlace: Int] {
        await placeJourneys()
        return try await environment.ask { store throws(StoreError) in try await store.journeyIndex.journeyCounts() }
    }

    /// A part of the journeys of all sessions. A journey that stays where it is is in exactly one part.
    ///
    /// - Returns: at most ``JourneyQuery/limit`` journeys, and where the next part begins; nil at the end. There may be
    ///   fewer, even none, before the end: where most of what the index finds does not fit, one call does not look
    ///   through all of it.
    package func journeys(
        _ query: JourneyQuery
    ) async throws(SessionError) -> (found: [FoundJourney], next: JourneyCursor?) {
        let places = try await journeyCounts().keys.filter(query.fits)
        let ofUser = try await idsOfUser(query.userID)
        let now = environment.clock.now()
        var (found, after, looked) = ([FoundJourney](), query.after, 0)
        while true {
            let ids =
                if let ofUser {
                    Array(ofUser.drop { id in after.map { id < $0.session } ?? false }.prefix(Self.lookedAtOnce))
                } else {
                    try await environment.ask { [after] store throws(StoreError) in
                        try await store.journeyIndex.sessions(
                            at: places, from: after?.session, limit: Self.lookedAtOnce)
                    }
                }
            for id in ids {
                let isFirst = id == after?.session
                for journey in try await journeys(of: id, fitting: query, now: now)
                where !isFirst || journey.journey.id > after?.journey ?? "" {
                    // One more than requested shows that there is a next part.
                    if found.count == query.limit {
                        return (found, found.last.map { JourneyCursor($0.session, $0.journey.id) })
                    }
                    found.append(journey)
                }
            }
            guard ids.count == Self.lookedAtOnce, let last = ids.last else { return (found, nil) }
            after = JourneyCursor(behind: last)
            looked += ids.count
            if looked >= Self.mostLooked { return (found, after) }
        }
    }

    private static let lookedAtOnce = 128
    /// So many sessions take a fifth of a second.
    private static let mostLooked = 2_048

    private func idsOfUser(_ userID: String?) async throws(SessionError) -> [SessionID]? {
        guard let userID else { return nil }
        return try await environment.ask { store throws(StoreError) in try await store.sessions(ofUser: userID) }
            .map(\.record.id).sorted()
    }

    /// In the order of their ids.
    private func journeys(
        of id: SessionID, fitting query: JourneyQuery, now: Int64
    ) async throws(SessionError) -> [FoundJourney] {
        let stored: StoredSession?
        do throws(SessionError) {
            stored = try await environment.ask { store throws(StoreError) in try await store.load(id) }
        } catch  where error.isDamage {
            return []
        }
        guard let session = stored.map(current), let kept = environment.journeys(of: session.record) else {
            // The index has what is not there any more.
            environment.noteMoved(id)
            return []
        }
        let record = session.record
        guard session.end(settings) > now, query.fits(record) else { return [] }
        let there = kept.journeys.map { (journey: $0, place: environment.place(of: $0, in: record)) }
            .filter { query.fits($0.place) }
        if there.isEmpty { environment.noteMoved(id) }
        return there.filter { found in query.before.map { found.journey.movedAt < $0 } ?? true }
            .sorted { $0.journey.id < $1.journey.id }
            .map { FoundJourney(session: id, userID: record.userID, journey: $0.journey, place: $0.place) }
    }
}
