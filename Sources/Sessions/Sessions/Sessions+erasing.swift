extension Sessions {
    /// Erases a person: ends all their sessions, also those that have expired and stay for their work or for a while,
    /// with everything in them. Then removes what still names the person: notices, except those that tell of this, and
    /// tasks that were recorded for the person in sessions of others.
    ///
    /// A sign-in of the person at this server comes before all of it or after; one at another server may leave its
    /// session. When the store fails in the middle a part is done, and the next call goes on.
    ///
    /// - Returns: how many of each there were.
    package func erase(userID: String) async throws -> ErasedPerson {
        await userTurns.take(userID)
        defer { userTurns.pass(userID) }
        var erased = ErasedPerson()
        var rounds = 0
        // Journeys move from one session to another, and other servers may have committed to one meanwhile.
        while try await eraseSessions(ofUser: userID, &erased) {
            rounds += 1
            guard rounds < environment.settings.maxConflictRetries else { throw SessionError.contention }
        }
        try await eraseTasks(naming: userID, &erased)
        return erased
    }

    /// - Returns: whether there were any.
    private func eraseSessions(ofUser userID: String, _ erased: inout ErasedPerson) async throws -> Bool {
        let readable = try await stored(ofUser: userID).map(\.record.id)
        for id in readable {
            do throws(SessionError) {
                if let last = try await eraseSession(id, of: userID) { erased.add(environment.journeys(of: last)) }
            } catch {
                guard error.isDamage else { throw error }
                if try await endStored(id, .erased, of: userID) { erased.sessions += 1 }
            }
        }
        let damaged = try await environment.ask { store throws(StoreError) in
            try await store.damagedSessions(ofUser: userID)
        }
        for id in damaged where try await endStored(id, .erased, of: userID) { erased.sessions += 1 }
        return !readable.isEmpty || !damaged.isEmpty
    }

    /// - Returns: its last state; nil when it is not the user's any more, or has changed: then it is looked for again.
    private func eraseSession(_ id: SessionID, of userID: String) async throws(SessionError) -> SessionRecord? {
        guard let session = try await load(id, isForMoment: true) else {
            return try await eraseStored(id, of: userID)
        }
        try await finishMoves(from: session)
        let isErased = try await end(session, .erased) { $0.record.userID?.isExactly(userID) ?? false }
        return isErased ? session.stored.record : nil
    }

    /// One that has expired, and that only the store still has.
    private func eraseStored(_ id: SessionID, of userID: String) async throws(SessionError) -> SessionRecord? {
        let environment = environment
        return try await environment.ask { store throws(StoreError) in
            guard let stored = try await store.load(id), stored.record.userID?.isExactly(userID) ?? false else {
                return nil
            }
            do throws(StoreError) {
                let notice = environment.notice(of: .erased, stored)
                guard try await environment.end(id, as: stored.standing, telling: notice) else { return nil }
            } catch {
                if case .conflict = error { return nil }
                throw error
            }
            environment.runEnded(stored.record)
            self.countEnd()
            return stored.record
        }
    }

    private func eraseTasks(naming userID: String, _ erased: inout ErasedPerson) async throws {
        var query = TaskQuery(now: now, limit: 256)
        query.naming = .user(userID)
        for task in try await allTasks(query) {
            guard let notice = task.notice else {
                if try await eraseTask(task) { erased.tasks += 1 }
                continue
            }
            // Back ends have to learn of it.
            if notice.reason == SessionEnd.erased.rawValue { continue }
            if try await update(task.id, .remove) != nil { erased.notices += 1 }
        }
    }

    private func eraseTask(_ task: StoredTask) async throws -> Bool {
        do {
            _ = try await giveUpTask(task, reason: "Its user was erased.", isOfOperator: true)
            return true
        } catch TaskError.over {
            // The session has it no more.
            return try await update(task.id, .remove) != nil
        }
    }
}

/// What there was of a person who was erased.
package struct ErasedPerson: Sendable, Equatable {
    package internal(set) var sessions = 0
    package internal(set) var journeys = 0
    /// Those that were not over.
    package internal(set) var tasks = 0
    /// Those that nobody had taken.
    package internal(set) var notices = 0

    /// - Parameter kept: the journeys of a session; nil when it had none, or they could not be read.
    fileprivate mutating func add(_ kept: KeptJourneys?) {
        sessions += 1
        let journeys = kept?.allJourneys ?? []
        self.journeys += journeys.count
        tasks += journeys.count { $0.task != nil } + (kept?.tasks.count ?? 0)
    }
}
