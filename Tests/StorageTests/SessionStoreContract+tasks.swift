import Navigation
import Testing

@testable import Sessions

// What every store does with tasks.
extension SessionStoreContract {
    private func task(
        _ number: UInt64 = 2, of session: SessionID? = nil, _ name: String = "check", attempts: Int = 2,
        due: Int64 = 100
    ) -> StoredTask {
        StoredTask(
            id: TaskID(session: session ?? id, journey: "main", number: number), name: name, attempts: attempts,
            createdAt: 90, due: due)
    }

    private static func claim(_ name: String = "check", _ limit: Int = 10, now: Int64, end: Int64) -> TaskClaim {
        TaskClaim(name: name, limit: limit, now: now, end: end)
    }

    /// Adds a session whose tasks begin with a commit.
    private func add(_ tasks: [StoredTask], to store: any SessionStore, of session: SessionID? = nil) async throws {
        let session = session ?? id
        try await store.create(StoredSession(record: Self.record(session), lastUsedAt: 11))
        var commit = Self.commit(Self.record(session, revision: 2), replacing: 1)
        commit.tasks = tasks.map { .begun($0) }
        try await store.commit(commit)
    }

    @Test("a task comes with the commit that began it, and with no commit that was refused", arguments: stores)
    func taskBegins(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task()], to: store)
        var refused = Self.commit(Self.record(id, revision: 2), replacing: 1)
        refused.tasks = [.begun(task(3)), .ended(task().id)]
        try? await store.commit(refused)
        #expect(try await store.tasks(TaskQuery(now: 100, limit: 10)) == [task()])
        var last = Self.commit(Self.record(id, revision: 3), replacing: 2)
        last.tasks = [.ended(task().id), .begun(task(3))]
        try await store.commit(last)
        #expect(try await store.tasks(TaskQuery(now: 100, limit: 10)) == [task(3)])
    }

    @Test(
        "a task is handed out when its time has come, once for each lease, and no more often than it may be",
        arguments: stores)
    func taskClaims(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task(), task(3, "other")], to: store)
        #expect(try await store.claimTasks(Self.claim(now: 99, end: 200)).tasks.isEmpty)
        #expect(try await store.claimTasks(Self.claim(now: 99, end: 200)).nextDue == 100)
        let first = try await store.claimTasks(Self.claim(now: 100, end: 200))
        #expect(first.tasks.map(\.attempt) == [1] && first.tasks.map(\.due) == [200] && first.nextDue == 200)
        #expect(first.tasks.first?.status(at: 150) == .claimed && first.tasks.first?.status(at: 200) == .waiting)
        #expect(try await store.claimTasks(Self.claim(now: 199, end: 300)).tasks.isEmpty)
        let second = try await store.claimTasks(Self.claim(now: 200, end: 300))
        #expect(second.tasks.map(\.attempt) == [2] && second.nextDue == nil)
        // The last one: from now on it has to be looked at when the lease ends.
        #expect(try await store.claimTasks(Self.claim(now: 5_000, end: 6_000)).tasks.isEmpty)
        #expect(try await store.overdueTasks(now: 299, limit: 10).isEmpty)
        #expect(try await store.overdueTasks(now: 300, limit: 10).map(\.id) == [task().id])
    }

    @Test(
        "tasks are handed out oldest first, at most as many as asked for, each to one of many callers",
        arguments: stores)
    func taskOrder(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let tasks = (0..<60).map { task(UInt64($0) + 2, due: 100 - Int64($0)) }
        try await add(tasks, to: store)
        let oldest = try await store.claimTasks(Self.claim("check", 3, now: 100, end: 500))
        #expect(oldest.tasks.map(\.id) == tasks.suffix(3).reversed().map(\.id))
        let claimed = await withTaskGroup(of: [TaskID].self) { group in
            for _ in 0..<20 {
                group.addTask {
                    (try? await store.claimTasks(Self.claim("check", 4, now: 100, end: 500)).tasks.map(\.id)) ?? []
                }
            }
            return await group.reduce([], +)
        }
        #expect(claimed.count == 57 && Set(claimed).count == 57)
    }

    @Test("a task whose last attempt is over can be put off", arguments: stores)
    func taskPutOff(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task(attempts: 1)], to: store)
        _ = try await store.claimTasks(Self.claim(now: 100, end: 150))
        #expect(try await store.overdueTasks(now: 150, limit: 10).count == 1)
        _ = try await store.updateTask(task().id, .putOff(to: 900))
        #expect(try await store.overdueTasks(now: 899, limit: 10).isEmpty)
        #expect(try await store.overdueTasks(now: 900, limit: 10).count == 1)
        #expect(try await store.claimTasks(Self.claim(now: 900, end: 950)).tasks.isEmpty)
    }

    @Test(
        "a failed attempt, a longer lease and a removal change a task; one that is not there is nil", arguments: stores)
    func taskUpdates(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task(attempts: 3)], to: store)
        #expect(try await store.updateTask(task(9).id, .remove) == nil)
        // Nobody has it.
        #expect(try await store.updateTask(task().id, .extend(attempt: nil, until: 700))?.due == 100)
        _ = try await store.claimTasks(Self.claim(now: 100, end: 200))
        #expect(try await store.updateTask(task().id, .extend(attempt: 1, until: 700))?.due == 700)
        #expect(try await store.claimTasks(Self.claim(now: 300, end: 500)).tasks.isEmpty)
        let retry = TaskRetry(attempts: 3, after: 50, factor: 2)
        let failed = try await store.updateTask(task().id, .fail(attempt: 1, now: 300, retry: retry, after: nil))
        #expect(failed?.due == 350 && failed?.isClaimed == false)
        #expect(try await store.claimTasks(Self.claim(now: 350, end: 400)).tasks.map(\.attempt) == [2])
        // The first worker is late: the second one has the task.
        let late = TaskUpdate.fail(attempt: 1, now: 355, retry: retry, after: nil)
        #expect(try await store.updateTask(task().id, late)?.isClaimed == true)
        #expect(try await store.updateTask(task().id, .extend(attempt: 1, until: 900))?.due == 400)
        let second = TaskUpdate.fail(attempt: nil, now: 360, retry: retry, after: 5)
        #expect(try await store.updateTask(task().id, second)?.due == 365)
        _ = try await store.updateTask(task().id, .remove)
        #expect(try await store.tasks(TaskQuery(now: 100, limit: 10)).isEmpty)
        #expect(try await store.updateTask(task().id, .extend(attempt: nil, until: 1)) == nil)
    }

    @Test("tasks go with their session, and only those, however it ends", arguments: stores)
    func tasksEnd(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let others = (0..<3).map { _ in SessionID(random: SystemRandom()) }
        for session in others + [id] { try await add([task(of: session)], to: store, of: session) }
        _ = try await store.end(others[0])
        _ = try await store.endExpired(
            ExpiryQuery(now: 2_000, idleTimeout: 100_000, retention: 0, limit: 10, isInUse: { $0 != others[1] }))
        let record = Self.record(others[2], revision: 9)
        try await store.receive(
            SessionArrival(
                session: StoredSession(record: record, lastUsedAt: 20), replacedRevision: 2,
                tasks: [task(9, of: others[2])]))
        let left = try await store.tasks(TaskQuery(now: 100, limit: 10))
        #expect(Set(left.map(\.id)) == [task().id, task(9, of: others[2]).id])
        #expect(left.map(\.id) == left.map(\.id).sorted())
        #expect(Set(try await store.claimTasks(Self.claim(now: 100, end: 200)).tasks.map(\.id)) == Set(left.map(\.id)))
    }

    @Test("tasks are listed page by page, by name and by whether somebody has them", arguments: stores)
    func taskPages(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let tasks = (2..<12).map { task($0, $0.isMultiple(of: 2) ? "check" : "other") }
        try await add(tasks, to: store)
        _ = try await store.claimTasks(Self.claim("check", 2, now: 100, end: 200))
        var (listed, last) = ([TaskID](), TaskID?.none)
        repeat {
            let page = try await store.tasks(TaskQuery(now: 100, after: last, limit: 3))
            listed += page.map(\.id)
            last = page.last?.id
        } while last != nil
        #expect(listed == tasks.map(\.id))
        #expect(try await store.tasks(TaskQuery(name: "other", now: 100, limit: 100)).count == 5)
        #expect(try await store.tasks(TaskQuery(status: .claimed, now: 100, limit: 100)).count == 2)
        #expect(try await store.tasks(TaskQuery(name: "check", status: .waiting, now: 100, limit: 100)).count == 3)
    }

    @Test(
        "a task of which a result is kept is not handed out; it is looked at when its lease ends, and never after that",
        arguments: stores)
    func keptResults(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task(attempts: 9)], to: store)
        _ = try await store.claimTasks(Self.claim(now: 100, end: 200))
        let kept = try await store.updateTask(task().id, .keep(now: 110))
        #expect(kept?.isKept == true && kept?.status(at: 150) == .claimed && kept?.status(at: 200) == .held)
        #expect(try await store.tasks(TaskQuery(status: .claimed, now: 150, limit: 9)) == [kept])
        #expect(try await store.tasks(TaskQuery(status: .held, now: 200, limit: 9)) == [kept])
        let claims = try await store.claimTasks(Self.claim(now: 300, end: 400))
        #expect(claims.tasks.isEmpty && claims.nextDue == nil)
        #expect(try await store.overdueTasks(now: 199, limit: 10).isEmpty)
        #expect(try await store.overdueTasks(now: 200, limit: 10) == [kept])
        let held = try await store.updateTask(task().id, .hold)
        #expect(held?.status(at: 150) == .held)
        #expect(try await store.overdueTasks(now: 9_999, limit: 10).isEmpty)
        #expect(try await store.updateTask(task().id, .look) == held)
        #expect(try await store.tasks(TaskQuery(status: .waiting, now: 300, limit: 9)).isEmpty)
    }

    @Test("a lease without an end ends within a day once a result is kept", arguments: stores)
    func keptWithoutEnd(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task()], to: store)
        _ = try await store.claimTasks(Self.claim(now: 100, end: .max))
        let kept = try await store.updateTask(task().id, .keep(now: 110))
        #expect(kept?.due == 110 + StoredTask.longestLease)
        #expect(try await store.overdueTasks(now: 110 + StoredTask.longestLease, limit: 10).map(\.id) == [task().id])
    }

    @Test("an operator makes a task due at once, with one more attempt if none is left", arguments: stores)
    func hastened(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        try await add([task(attempts: 1, due: 900)], to: store)
        #expect(try await store.claimTasks(Self.claim(now: 100, end: 200)).tasks.isEmpty)
        _ = try await store.updateTask(task().id, .hasten(now: 100))
        #expect(try await store.claimTasks(Self.claim(now: 100, end: 200)).tasks.map(\.attempt) == [1])
        _ = try await store.updateTask(task().id, .hasten(now: 150))
        #expect(try await store.claimTasks(Self.claim(now: 150, end: 200)).tasks.map(\.attempt) == [2])
    }

    @Test("tasks are listed by session and by age", arguments: stores)
    func taskFilters(_ candidate: Candidate) async throws {
        let store = try await make(candidate)
        let other = SessionID(random: SystemRandom())
        try await add([task(2), task(3)], to: store)
        try await add([task(2, of: other)], to: store, of: other)
        #expect(try await store.tasks(TaskQuery(session: other, now: 100, limit: 9)).map(\.id.session) == [other])
        let first = try await store.tasks(TaskQuery(session: id, now: 100, limit: 1))
        #expect(first == [task(2)])
        #expect(try await store.tasks(TaskQuery(session: id, now: 100, after: task(2).id, limit: 9)) == [task(3)])
        #expect(try await store.tasks(TaskQuery(before: 90, now: 100, limit: 9)).isEmpty)
        #expect(try await store.tasks(TaskQuery(before: 91, now: 100, limit: 9)).count == 3)
    }
}
