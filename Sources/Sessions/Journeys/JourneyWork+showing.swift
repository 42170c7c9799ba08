import Navigation

// The views of journeys, and which of them are cached.
extension JourneyWork {
    /// What a client is shown of the journey now.
    ///
    /// - Parameters:
    ///   - entry: as the last step has made it, if one was taken.
    ///   - isSettled: whether it is shown where it stands, even if it may not stay there.
    mutating func text(of entry: KeptJourney, isSettled: Bool = false) throws -> JourneyText {
        if let prepared { return try remember(prepared, of: entry.journey) }
        if let problem = engine.obstacle(to: entry.journey, services: documents, now: pending.now) {
            return try stuckText(of: entry.journey, problem)
        }
        let (text, guards) = try engine.textAndMemory(
            entry.journey, services: documents, now: pending.now, knowing: guards, timesMovedBy: clockShift,
            isSettled: isSettled)
        self.guards = guards
        return try remember(text, of: entry.journey)
    }

    /// The entity tag of what a client is shown now.
    mutating func etag(of entry: KeptJourney) throws -> ServiceETag {
        if !pending.isRecordChanged, let known = pending.knownMemory?.view(of: entry.journey.id),
            known.revision == pending.base.revision, known.processRevision == documents.process.revision,
            known.dueAt.map({ pending.now < $0 }) ?? true
        {
            return known.etag
        }
        return try text(of: entry).etag
    }

    /// How much later the clock that people read is.
    var clockShift: Int64 { environment.clock.wall(at: pending.now) &- pending.now }

    private func stuckText(of journey: Journey, _ problem: JourneyRefusal) throws -> JourneyText {
        if let failure = documents.failure { throw failure }
        let view = engine.textOfStuck(journey, timesMovedBy: clockShift)
        return JourneyText(
            of: journey, bytes: view.bytes, etag: ServiceETag(revision: view.tag), revision: shownRevision,
            processRevision: documents.process.revision, dueAt: journey.dueAt,
            problem: problem.concealing(pending.catalog.hidden), texts: view.texts)
    }

    private var shownRevision: UInt64 { pending.isRecordChanged ? pending.revision : pending.base.revision }

    /// Caches the view, the verdicts of guards and the parsed documents.
    private mutating func remember(_ view: ViewText, of journey: Journey) throws -> JourneyText {
        if let failure = documents.failure { throw failure }
        let former = pending.newMemory ?? pending.knownMemory
        let text = JourneyText(
            of: journey, bytes: view.bytes, etag: ServiceETag(revision: view.tag), revision: shownRevision,
            processRevision: documents.process.revision,
            dueAt: earlier(earlier(journey.dueAt, pending.nextEnd), endOfOwned(in: journey)), texts: view.texts)
        // The newest first. Others that were shown stay as they are: looking at one says nothing of them. Views that
        // depend on the moment are not cached.
        let isUseful = !view.isRestless && view.bytes.count <= JourneyText.mostRememberedBytes
        var views = isUseful ? [text] : []
        if let former { for other in former.views where other.journey != journey.id { views.append(other) } }
        pending.newMemory = JourneyMemory(
            text: pending.document(of: coordinator)?.bytes ?? [], kept: kept, documents: documents.known,
            guards: guards, views: views, definitions: pending.definitions.number)
        return text
    }

    /// When the first of the services that coordinators own comes to the end of its lifetime; nil when none does.
    private func endOfOwned(in journey: Journey) -> Int64? {
        var next: Int64?
        for service in journey.owned {
            guard let lifetime = documents.lifetime(of: service.name) else { continue }
            next = earlier(next, service.createdAt + lifetime)
        }
        return next
    }
}

extension PendingState {
    /// When the first of the services comes to the end of its lifetime; nil when none does.
    fileprivate var nextEnd: Int64? {
        var next: Int64?
        for document in documents {
            guard let lifetime = catalog[document.service].lifetime else { continue }
            next = earlier(next, document.createdAt + lifetime)
        }
        return next
    }
}
