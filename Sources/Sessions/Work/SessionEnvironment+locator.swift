import ServiceLocator

extension SessionEnvironment {
    /// A part of a unit of work on typed services: they are resolved from the locator and changed as plain objects.
    ///
    /// When `body` returns, everything that changed is checked against its schema and becomes a part of the pending
    /// state. When it throws, nothing does. The locator and its instances have no effect afterwards.
    ///
    /// - Parameters:
    ///   - journey: the locator is that of the journey's topmost coordinator: it holds what the coordinator owns, and
    ///     its parent is that of the coordinator above, at last the session's. Nil for the session's.
    /// - Throws: ``SessionError``, and what `body` throws.
    func withLocator<Result>(
        on pending: inout PendingState, inJourney journey: String? = nil, _ body: (ServiceLocator) throws -> Result
    ) throws -> Result {
        let work = UnitOfWork(start: pending, processDocuments.now, catalog: catalog)
        var locator = work.locator(parent: process)
        var owned: [(work: UnitOfWork, coordinator: Int)] = []
        if let journey {
            let journeys = try JourneyWork(on: pending, self)
            for level in try journeys.levels(in: journey).reversed() {
                let own = journeys.unit(of: level, in: journey)
                locator = own.locator(parent: locator, owning: Set(level.names))
                owned.append((own, level.coordinator))
            }
        }
        // A locator that goes takes its instances with it, which is to remove them: it has to stay till the end.
        return try withExtendedLifetime(locator) {
            let result = try body(locator)
            try work.finish(into: &pending, limit: settings.maxDocumentSize)
            guard let journey, !owned.isEmpty else { return result }
            var journeys = try JourneyWork(on: pending, self)
            for own in owned { try own.work.finish(into: &journeys, of: own.coordinator, in: journey) }
            pending = journeys.pending
            return result
        }
    }
}
