import Testing

@testable import Sessions

// What every store does with notices.
extension SessionStoreContract {
    private func notice(
        _ kind: SessionNotice.Kind, at time: Int64 = 100, user: String? = nil, because reason: String? = nil
    ) -> StoredTask {
        StoredTask(
            id: TaskID(kind, of: id, revision: 1), name: "feed", attempts: SessionNotice.retry.attempts,
            createdAt: time, due: time, notice: SessionNotice(userID: user, reason: reason, endsAt: 5_000))
    }

    private static func claim(now: Int64 = 200) -> TaskClaim {
        TaskClaim(name: "feed", limit: 10, now: now, end: now + 100)
    }

    @Test(
        "notices come with a session and with its end, stay when it has ended, and are handed out until they are taken",
        arguments: stores)
    func notices(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let (created, ended) = (notice(.created), notice(.ended, at: 101, user: "\u{301} b/ü", because: "requested"))
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11), telling: created)
        var commit = Self.commit(Self.record(id, revision: 2), replacing: 1)
        let signedIn = notice(.signedIn, at: 102, user: "ada")
        let work = StoredTask(
            id: TaskID(session: id, journey: "main", number: 2), name: "check", attempts: 2, createdAt: 90, due: 100)
        commit.tasks = [.begun(signedIn), .begun(work)]
        try await store.commit(commit)
        #expect(try await store.end(id, as: nil, telling: ended))
        #expect(try await store.load(id) == nil && store.sessionCount == 0)
        #expect(try await store.tasks(TaskQuery(now: 200, limit: 10)) == [created, signedIn, ended])
        let claimed = try await store.claimTasks(Self.claim())
        #expect(claimed.tasks.map(\.id) == [created.id, ended.id, signedIn.id])
        #expect(claimed.tasks.map(\.notice) == [created.notice, ended.notice, signedIn.notice])
        #expect(try await store.updateTask(created.id, .remove) != nil)
        #expect(try await store.updateTask(created.id, .remove) == nil)
        // However often it was handed out.
        for attempt in 2..<6 {
            let again = try await store.claimTasks(Self.claim(now: 200 + 100 * Int64(attempt)))
            #expect(again.tasks.map(\.attempt) == [attempt, attempt])
        }
        #expect(try await store.overdueTasks(now: 4_999, limit: 10).isEmpty)
        #expect(Set(try await store.overdueTasks(now: 5_000, limit: 10).map(\.id)) == [ended.id, signedIn.id])
        for id in [ended.id, signedIn.id] { #expect(try await store.updateTask(id, .remove) != nil) }
        #expect(try await store.tasks(TaskQuery(now: 200, limit: 10)).isEmpty)
    }

    @Test("notices stay when an imported session takes the place of theirs", arguments: stores)
    func noticesOfReplaced(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11), telling: notice(.created))
        let arrival = StoredSession(record: Self.record(id, revision: 2), lastUsedAt: 12)
        try await store.receive(SessionArrival(session: arrival, replacedRevision: 1))
        #expect(try await store.tasks(TaskQuery(now: 200, limit: 10)) == [notice(.created)])
        #expect(try await store.claimTasks(Self.claim()).tasks.map(\.id) == [notice(.created).id])
        // No session of that id ends any more.
        #expect(try await store.end(id, as: nil, telling: nil))
        #expect(try await !store.end(id, as: nil, telling: notice(.ended)))
        #expect(try await store.tasks(TaskQuery(now: 200, limit: 10)).map(\.id) == [notice(.created).id])
    }

    @Test("a new session keeps the response to its request and tells of itself in one commit", arguments: stores)
    func noticeOnce(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let session = StoredSession(record: Self.record(id), lastUsedAt: 11)
        let once = OnceCreated(replay: Self.replay("key"), now: 1, mostLone: 100, notice: notice(.created))
        for _ in 0..<2 {
            let outcome = await withUnsafeContinuation { waiting in
                store.replays.create(session, once: once) { waiting.resume(returning: $0) }
            }
            _ = try outcome.get()
        }
        #expect(try await store.tasks(TaskQuery(now: 200, limit: 10)) == [notice(.created)])
    }
}

// What every store does with tasks that name a user.
extension SessionStoreContract {
    @Test(
        "the tasks that name a user are found, also in the session of another user, and no twin's", arguments: stores)
    func tasksNaming(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let twins = ["ada", "Ada", "ada ", "a", "requested ada", "\u{e9}", "e\u{301}", "a}=", "", " ", "null"]
        var commit = Self.commit(Self.record(id, revision: 2, user: "bob"), replacing: 1)
        try await store.create(StoredSession(record: Self.record(id), lastUsedAt: 11))
        let notices = twins.enumerated().map { number, user in
            StoredTask(
                id: TaskID(.signedOut, of: id, revision: UInt64(number + 1)), name: "feed", attempts: 9,
                createdAt: 100, due: 100, notice: SessionNotice(userID: user, reason: "requested", endsAt: 5_000))
        }
        let work = twins.dropFirst().enumerated().map { number, user in
            StoredTask(
                id: TaskID(session: id, journey: "main", number: UInt64(number + 1)), name: "check", attempts: 2,
                createdAt: 90, due: 100, userID: user == "" ? nil : user)
        }
        commit.tasks = (notices + work).map { .begun($0) }
        try await store.commit(commit)
        func found(_ naming: TaskQuery.Naming, after: TaskID? = nil, limit: Int = 100) async throws -> [StoredTask] {
            var query = TaskQuery(now: 200, after: after, limit: limit)
            query.naming = naming
            return try await store.tasks(query)
        }
        for (place, user) in twins.enumerated() where user != "" {
            let expected = (place == 0 ? [] : [work[place - 1]]) + [notices[place]]
            #expect(try await found(.user(user)) == expected, "\(user)")
            #expect(try await found(.user(user), limit: 1) == [expected[0]])
            #expect(try await found(.user(user), after: expected[0].id) == Array(expected.dropFirst()))
        }
        #expect(try await found(.nobody) == [work[7], notices[8]])
        #expect(try await found(.user("")).isEmpty)
        // Work is handed out and kept with its user, and goes with its session; notices stay.
        let claimed = try await store.claimTasks(TaskClaim(name: "check", limit: 1, now: 100, end: 200)).tasks
        #expect(claimed.map(\.userID) == ["Ada"])
        #expect(try await found(.user("Ada")) == [claimed[0], notices[1]])
        #expect(try await store.end(id, as: nil, telling: nil))
        for (place, user) in twins.enumerated() where user != "" {
            #expect(try await found(.user(user)) == [notices[place]], "\(user)")
        }
        #expect(try await store.updateTask(notices[0].id, .remove) != nil)
        #expect(try await found(.user("ada")).isEmpty)
        #expect(try await found(.user("Ada")) == [notices[1]])
    }
}
