import Navigation

/// Everything that there is of a person: the ids of what ``Sessions/content(of:ofUser:)`` reads, and what is in no
/// session of the person.
package struct Person: Sendable {
    /// In order.
    package let sessions: [SessionID]
    /// Those that cannot be read.
    package let damaged: [SessionID]
    /// Tasks that were recorded for the person, in sessions that are not the person's any more.
    package let tasks: [(task: StoredTask, details: TaskDetails)]
    /// Those that nobody has taken, also of sessions that have ended.
    package let notices: [ClaimedTask]
}

/// What a session of a person has.
package struct PersonalSession: Sendable {
    package let summary: SessionSummary
    package let services: [Service]
    package let journeys: [Journey]
    /// Those that are not over, except what was recorded for others.
    package let tasks: [(task: StoredTask, details: TaskDetails)]

    package struct Service: Sendable {
        package let name: String
        /// Nil for a service that is no longer declared.
        package let status: ServiceStatus?
        /// As it was written; nil when it cannot be read.
        package let document: [UInt8]?
    }
}

extension Sessions {
    /// Finds everything that there is of a person, also in sessions that have expired and were not deleted yet.
    package func person(_ userID: String) async throws -> Person {
        let ids = try await stored(ofUser: userID).map(\.record.id).sorted()
        let damaged = try await environment.ask { store throws(StoreError) in
            try await store.damagedSessions(ofUser: userID)
        }
        let own = Set(ids)
        var (tasks, notices) = ([(task: StoredTask, details: TaskDetails)](), [ClaimedTask]())
        var query = TaskQuery(now: now, limit: 256)
        query.naming = .user(userID)
        for task in try await allTasks(query) {
            if let notice = environment.claimed(notice: task) {
                notices.append(notice)
            } else if !own.contains(task.id.session), let details = try await details(of: task) {
                tasks.append((task, details))
            }
        }
        return Person(sessions: ids, damaged: damaged, tasks: tasks, notices: notices)
    }

    /// What a session has, as it was committed last.
    ///
    /// - Returns: nil when it has ended since, or is not the user's any more.
    package func content(of id: SessionID, ofUser userID: String) async throws -> PersonalSession? {
        let stored = try await environment.ask { store throws(StoreError) in try await store.load(id) }
        guard let session = stored.map(current), session.record.userID?.isExactly(userID) ?? false else { return nil }
        let record = session.record
        let pending = PendingState(
            base: record, unwritten: [], definitions: environment.definitions, now: now, lastUsedAt: session.lastUsedAt)
        // Journeys that cannot be read have been damaged, as their document says.
        let work = try? JourneyWork(on: pending, environment)
        var query = TaskQuery(now: now, limit: 256)
        query.session = id
        let tasks = try await allTasks(query).filter { $0.notice == nil && $0.userID?.isExactly(userID) ?? true }
        return PersonalSession(
            summary: SessionSummary(session, environment), services: services(of: record),
            journeys: work?.kept.allJourneys ?? [],
            tasks: tasks.compactMap { task in work?.standing(of: task.id).map { (task, TaskDetails($0)) } })
    }

    /// What is written. Where journeys stand is shown by the journeys, unless that cannot be read.
    private func services(of record: SessionRecord) -> [PersonalSession.Service] {
        let catalog = catalog
        return record.services.compactMap { document -> PersonalSession.Service? in
            let service = catalog[document.service]
            if service.name == CoordinatorService.name, !document.isDamaged { return nil }
            return PersonalSession.Service(
                name: service.name, status: service.isDeclared ? ServiceStatus(service, document, environment) : nil,
                document: document.isDamaged ? nil : document.bytes)
        }
    }

    func allTasks(_ query: TaskQuery) async throws -> [StoredTask] {
        var (query, found) = (query, [StoredTask]())
        while true {
            let page = try await tasks(query)
            found += page
            guard page.count == query.limit, let last = page.last else { return found }
            query.after = last.id
        }
    }
}

extension KeptJourneys {
    /// Also those that are on their way to another session, which may return.
    var allJourneys: [Journey] { journeys + transfers.departures.compactMap { $0.content?.journey } }
}
