import Navigation

// What clients are shown of a journey, and what is kept of that for the next one who asks.
extension JourneyWork {
    /// What a client is shown of the journey now.
    ///
    /// - Parameter isSettled: whether it is shown where it stands, even if it may not stay there.
    mutating func shown(_ entry: KeptJourney, isSettled: Bool = false) throws -> ShownJourney {
        ShownJourney(text: try text(of: entry, isSettled: isSettled))
    }

    /// The same, the text alone, which is all that goes out.
    ///
    /// - Parameter entry: as the last step has made it, if one was taken.
    mutating func text(of entry: KeptJourney, isSettled: Bool = false) throws -> JourneyText {
        if let prepared { return try remember(prepared, of: entry.journey) }
        let (text, guards) = try engine.textAndMemory(
            entry.journey, services: documents, now: pending.now, knowing: guards, timesMovedBy: clockShift,
            isSettled: isSettled)
        self.guards = guards
        return try remember(text, of: entry.journey)
    }

    /// How much later the clock that people read is.
    var clockShift: Int64 { environment.clock.wall(at: pending.now) &- pending.now }

    /// Keeps for the next one what this one has found out.
    ///
    /// - Returns: the text, with what is known from the one that was here before.
    private mutating func remember(_ view: ViewText, of journey: Journey) throws -> JourneyText {
        if let failure = documents.failure { throw failure }
        let isAsMoved = pending.isRecordChanged || isLastCommit(journey)
        let former = pending.newMemory ?? pending.memory
        let text = JourneyText(
            journey: journey.id, bytes: view.bytes, etag: ServiceETag(revision: journey.step),
            revision: pending.isRecordChanged ? pending.revision : pending.base.revision,
            dueAt: earlier(journey.dueAt, pending.nextEnd), isOnlyFormOfStep: isAsMoved && !view.isRestless
        ).knowing(former?.view(of: journey.id))
        // The newest first. Others that were shown stay as they are: looking at one says nothing of them. What may look
        // otherwise at any moment is of no use to others.
        var views = view.isRestless ? [] : [text.remembered]
        if let former { for other in former.views where other.journey != journey.id { views.append(other) } }
        pending.newMemory = JourneyMemory(
            text: pending.document(of: coordinator)?.bytes ?? [], kept: kept, documents: documents.known,
            guards: guards, views: views)
        return text
    }

    /// Whether the step that brought the journey where it is was the session's last commit.
    private func isLastCommit(_ journey: Journey) -> Bool {
        guard let document = pending.document(of: coordinator), document.revision == pending.base.revision else {
            return false
        }
        // It may have been another journey's, or that one was given up.
        return document.updatedAt == journey.movedAt
            && kept.entries.allSatisfy { $0.journey.id == journey.id || $0.journey.movedAt < journey.movedAt }
            // What has come to the end of its lifetime since is gone without a commit.
            && pending.documents.count == pending.base.services.count
    }
}

extension PendingState {
    /// When the first of the services comes to the end of its lifetime; nil when none does.
    fileprivate var nextEnd: Int64? {
        var next: Int64?
        for document in documents {
            guard let lifetime = catalog.services[Int(document.service)].lifetime else { continue }
            next = earlier(next, document.createdAt + lifetime)
        }
        return next
    }
}

private func earlier(_ one: Int64?, _ other: Int64?) -> Int64? {
    guard let one else { return other }
    return other.map { min(one, $0) } ?? one
}
