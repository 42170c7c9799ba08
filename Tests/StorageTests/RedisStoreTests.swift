import Glibc
import RedisTestServer
import SeededRandomness
import Synchronization
import Testing

@testable import RedisStorage
@testable import Sessions

@Suite("Several servers on one Redis") struct RedisStoreTests {
    let fixture: RedisFixture
    let id = SessionID(random: SystemRandom())

    init() throws { fixture = try RedisFixture() }

    private func commit(
        _ revision: UInt64, over former: UInt64, letter: Character = " ", details: SessionDetails? = nil
    ) -> SessionCommit {
        let record = Samples.record(
            id, revision: revision, [Samples.document(revision: revision, letter: letter)],
            details: details ?? SessionDetails())
        return details == nil
            ? Samples.commit(record, over: former)
            : SessionCommit(record: record, replacedRevision: former, changedServices: [0])
    }

    private func letter(_ store: RedisStore) async throws -> UInt8? {
        try await store.load(id)?.record.document(of: 0)?.bytes.first
    }

    @Test("one server at a time looks for expired sessions, another one when it has closed")
    func sweepers() async throws {
        let fixture = try RedisFixture(try RedisTestServer.shared.get())
        let (one, other) = (try fixture.store(), try fixture.store())
        try await one.create(Samples.session())
        let query = ExpiryQuery(now: 1, idleTimeout: 1_000, retention: 0, limit: 10) { _ in false }
        for _ in 0..<2 {
            #expect(try await one.endExpired(query).looked == 1)
            #expect(try await other.endExpired(query).looked == 0)
        }
        await one.close()
        #expect(try await other.endExpired(query).looked == 1)
    }

    @Test("sessions with journeys are named that a server without due times was the last to write")
    func untimed() async throws {
        let store = try fixture.store(services: ["coordinator", "quote"])
        let with = [0, 1].map { _ in SessionID(random: SystemRandom()) }
        for id in with { try await store.create(Samples.session(id, [Samples.document()])) }
        let without = SessionID(random: SystemRandom())
        try await store.create(Samples.session(without, [Samples.document(1)]))
        func named() async throws -> [SessionID] {
            let named = Mutex<[SessionID]>([])
            var query = ExpiryQuery(now: 1, idleTimeout: 1_000, retention: .max, limit: 10) { _ in false }
            query.onUntimed = { id in named.withLock { $0.append(id) } }
            #expect(try await store.endExpired(query).looked == 3)
            return named.withLock(\.self)
        }
        #expect(try await named().isEmpty)
        for id in with.prefix(1) + [without] {
            try fixture.ask("HSET", .text(store.keys.session(id)), "n", "0123456789abcdef-7")
        }
        #expect(try await named() == [with[0]])
        let next = Samples.record(with[0], revision: 2, [Samples.document(revision: 2)])
        try await store.commit(Samples.commit(next, over: 1))
        #expect(try await named().isEmpty)
    }

    @Test("the index of due times says when the first of a part is due, whatever happens", arguments: [1, 2])
    func dueParts(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let store = try fixture.store()
        // All of one part.
        var revisions: [SessionID: UInt64] = [:]
        for number in 0..<12 { revisions[SessionID(high: UInt64(number), low: 7 << 32 | 41)] = 0 }
        func time() -> Int64 { .random(in: 1_000...1_100, using: &generator) * 1_000 }
        for _ in 0..<300 {
            let id = try #require(revisions.keys.sorted().randomElement(using: &generator))
            let (revision, due) = (revisions[id] ?? 0, Bool.random(using: &generator) ? time() : .max)
            let record = Samples.record(id, revision: revision + 1).with(SessionTimes(dueAt: due))
            switch Int.random(in: 0..<6, using: &generator) {
            case 0 where revision > 0:
                #expect(try await store.end(id))
                revisions[id] = nil
                revisions[SessionID(high: id.high + 100, low: id.low)] = 0
            case 1:
                for found in try await store.dueSessions(now: time(), limit: 2) {
                    try await store.putOff(found, to: Bool.random(using: &generator) ? time() : .max)
                }
            case _ where revision == 0:
                try await store.create(StoredSession(record: record, lastUsedAt: 11))
                revisions[id] = 1
            default:
                var commit = SessionCommit(record: record, replacedRevision: revision, changedServices: [])
                commit.changesTimes = true
                try await store.commit(commit)
                revisions[id] = revision + 1
            }
        }
        // What is sent without waiting comes before this.
        let part = try await store.ask(RedisRequest("ZRANGE", "\(store.keys.due):41", "0", "-1", "WITHSCORES"))[0]
        let first = try fixture.ask("ZRANGE", .text(store.keys.due), "0", "-1", "WITHSCORES")
        #expect(first.list.compactMap(\.text) == (part.list.isEmpty ? [] : ["41", part[1].text]))
        // No entry is later than its session's time.
        let scores = Dictionary(
            uniqueKeysWithValues: stride(from: 0, to: part.list.count, by: 2).map {
                (part[$0].bytes ?? [], part[$0 + 1].number ?? .max)
            })
        for (id, revision) in revisions where revision > 0 {
            let due = try await store.load(id)?.record.times.dueAt ?? .max
            let member = [id.high, id.low].flatMap { withUnsafeBytes(of: $0.bigEndian) { Array($0) } }
            if due < .max { #expect(scores[member].map { $0 <= max(due, 1_105_000) } == true) }
        }
    }

    /// `TIMERS=1000000` measures as many.
    @Test("a timer that sleeps takes at most 120 bytes", .enabled(if: getenv("TIMERS") != nil))
    func dueBytes() async throws {
        let count = getenv("TIMERS").flatMap { Int(String(cString: $0)) } ?? 0
        func used(_ fixture: RedisFixture) throws -> Int {
            let lines = try fixture.ask("INFO", "memory").text?.split(whereSeparator: \.isNewline) ?? []
            return lines.first { $0.hasPrefix("used_memory:") }.flatMap { Int($0.dropFirst(12)) } ?? 0
        }
        func make(_ times: SessionTimes) async throws -> Int {
            let fixture = try RedisFixture(try RedisTestServer(["--appendonly", "no"]))
            let store = try fixture.store()
            let (results, before) = (CommitResults(), try used(fixture))
            for number in 0..<count {
                var times = times
                if times.dueAt < .max { times.dueAt += Int64.random(in: 0..<5_000_000_000) }
                let record = Samples.record(SessionID(random: SystemRandom()), [Samples.document(size: 300)])
                    .with(times)
                store.create(StoredSession(record: record, lastUsedAt: 11)) { results.add("\(number)", $0) }
                if number % 10_000 == 9_999 { _ = await results.wait(for: 10_000) }
            }
            return try used(fixture) - before
        }
        let without = try await make(.none)
        let bytes = Double(try await make(SessionTimes(dueAt: 1_764_000_000_000)) - without) / Double(count)
        print("\(bytes) bytes a timer of \(count)")
        #expect(bytes <= 120)
    }

    @Test("of commits of several servers from one revision exactly one succeeds, and all see it")
    func race() async throws {
        let stores = try (0..<3).map { _ in try fixture.store() }
        try await stores[0].create(Samples.session(id))
        let winners = await withTaskGroup(of: Character?.self) { group in
            for number in 0..<60 {
                let letter = Character(Unicode.Scalar(UInt8(48 + number)))
                let commit = commit(2, over: 1, letter: letter)
                group.addTask { (try? await stores[number % 3].commit(commit)) == nil ? nil : letter }
            }
            return await group.reduce(into: [Character]()) { if let letter = $1 { $0.append(letter) } }
        }
        #expect(winners.count == 1)
        for store in stores {
            #expect(try await letter(store) == winners.first?.asciiValue)
            #expect(try await store.standing(of: id) == SessionStanding(revision: 2, lastUsedAt: 11))
        }
        #expect(try await stores[0].standing(of: SessionID(high: 1, low: 1)) == nil)
    }

    @Test("a commit that another server was faster than brings what that has committed")
    func overtaken() async throws {
        let (one, other) = (try fixture.store(), try fixture.store())
        try await one.create(Samples.session(id))
        try await other.commit(commit(2, over: 1, letter: "o"))
        do throws(StoreError) {
            try await one.commit(commit(2, over: 1, letter: "a"))
            Issue.record("It was committed.")
        } catch {
            guard case .overtaken(let newer) = error else { throw error }
            let found = newer()
            #expect(found?.record.revision == 2 && found?.lastUsedAt == 11)
            #expect(found?.record.document(of: 0)?.bytes.first == Character("o").asciiValue)
        }
        #expect(try await letter(other) == Character("o").asciiValue)
    }

    @Test("commits that wait together are written together")
    func pipelining() async throws {
        let store = try fixture.store()
        let ids = (0..<1_000).map { _ in SessionID(random: SystemRandom()) }
        let results = CommitResults()
        let busy = Mutex(0)
        let isBusy = Atomic(false)
        let start = ContinuousClock.now
        let before = busy.withLock { _ in
            // Its thread has something else to do meanwhile.
            _ = store.router.append(RedisRequest("PING")) { _ in
                isBusy.store(true, ordering: .releasing)
                busy.withLock { $0 += 1 }
            }
            while !isBusy.load(ordering: .acquiring) { sched_yield() }
            for id in ids { store.create(Samples.session(id)) { results.add("\(id)", $0) } }
            return store.router.writes
        }
        #expect(await results.wait(for: 1_000).allSatisfy { $0.error == nil })
        let writes = store.router.writes - before
        // A pulse and what follows it are two more, on a busy machine several times.
        let pulses = Int((ContinuousClock.now - start) / RedisPulse.interval)
        #expect(writes <= 10 + 2 * pulses, "\(writes) writes")
        #expect(store.sessionCount == 1_000)
    }

    @Test("services that a server does not know stay as they are")
    func undeclared() async throws {
        let (old, new) = (try fixture.store(services: ["profile"]), try fixture.store(services: ["quote", "profile"]))
        try await new.create(
            Samples.session(id, [Samples.document(0, letter: "q"), Samples.document(1, letter: "p")]))
        let seen = try #require(try await old.load(id)).record
        #expect(Set(seen.services.map { old.names[$0.service] }) == ["profile", "quote"])
        let details = SessionDetails(labels: SessionLabels(["a": "b"]))
        try await old.commit(commit(2, over: 1, letter: "n", details: details))
        let record = try #require(try await new.load(id)).record
        #expect(record.document(of: 0)?.bytes.first == Character("q").asciiValue)
        #expect(record.document(of: 1)?.bytes.first == Character("n").asciiValue)
        #expect(record.details.labels == SessionLabels(["a": "b"]))
    }

    @Test("an end leaves nothing but what says which revisions were given")
    func ends() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id, details: SessionDetails(userID: "ada")))
        let tasks = (2..<5).map { number in
            StoredTask(
                id: TaskID(session: id, journey: "main", number: number), name: "check", attempts: 2, createdAt: 1,
                due: 1)
        }
        var begin = commit(2, over: 1, details: SessionDetails(userID: "bob"))
        begin.tasks = tasks.map { .begun($0) }
        begin.newFlows = [UsedFlow(flow: "a", version: 1, states: "x ")]
        try await store.commit(begin)
        var end = commit(3, over: 2)
        end.tasks = [.ended(tasks[0].id)]
        try await store.commit(end)
        // On its connection, after what nobody waits for.
        _ = try await store.standing(of: id)
        let list = store.keys.sessions(with: id).dropFirst(fixture.prefix.count)
        let names = ["{flows}", "{q}:check", "{q}=", "{\(id)}", "{u:bob}", String(list)]
        #expect(try fixture.keyNames() == names.sorted())
        #expect(try fixture.ask("ZCARD", .text(store.keys.tasks)).number == 2)
        _ = try await store.claimTasks(TaskClaim(name: "check", limit: 1, now: 10, end: 20))
        _ = try await store.updateTask(tasks[1].id, .remove)
        #expect(try await store.end(id))
        _ = try await store.standing(of: id)
        #expect(try fixture.keyNames() == ["{flows}", "{f}", "{\(id)}"].sorted())
        #expect(try fixture.ask("GET", .text(store.keys.floor)).text == "4")
        let key = RedisRequest.Word.text(store.keys.session(id))
        #expect(try fixture.ask("HKEYS", key).list.compactMap(\.text) == ["f"])
        #expect((1...60_000).contains(try fixture.ask("PTTL", key).number ?? 0))
    }

    @Test("a late copy of a creation or of an import does not bring back a session that has ended", arguments: [1, 9])
    func revived(revision: UInt64) async throws {
        let store = try fixture.store()
        let session = Samples.session(id, revision: revision)
        let arrival = SessionArrival(session: session, replacedRevision: nil)
        if revision == 1 { try await store.create(session) } else { try await store.receive(arrival) }
        #expect(try await store.end(id))
        // The same as was sent before: its floor is that of then.
        await #expect(throws: StoreError.self) { try await store.create(session) }
        #expect(try await store.load(id) == nil)
        #expect(try await store.standing(of: id) == nil)
        #expect(try await store.page(after: nil, limit: 10).skipped == 0)
        // An import that begins now is none.
        try await store.receive(arrival)
        #expect(try #require(try await store.load(id)).record.highestRevision == revision + 1)
        #expect(try await store.end(id))
    }

    @Test("a session that is no longer as it was seen does not end")
    func endAsSeen() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id))
        let seen = try #require(try await store.standing(of: id))
        try await store.touch([SessionUse(id: id, usedAt: seen.lastUsedAt + 1)])
        await #expect(throws: StoreError.self) { try await store.end(id, as: seen) }
        let used = try #require(try await store.standing(of: id))
        try await store.commit(commit(2, over: 1))
        await #expect(throws: StoreError.self) { try await store.end(id, as: used) }
        #expect(try await store.end(id, as: try await store.standing(of: id)))
        #expect(try await !store.end(id, as: used))
    }

    @Test("an imported session is not taken for the one of its id that was imported before it")
    func incarnations() async throws {
        let store = try fixture.store()
        let arrival = SessionArrival(session: Samples.session(id), replacedRevision: nil)
        var revisions: Set<UInt64> = []
        for _ in 0..<5 {
            try await store.receive(arrival)
            revisions.insert(try #require(try await store.standing(of: id)).revision)
            #expect(try await store.end(id))
        }
        #expect(revisions.count == 5)
        // A commit that was made from the first one is refused.
        try await store.receive(arrival)
        await #expect(throws: StoreError.self) { try await store.commit(commit(2, over: 1)) }
    }

    @Test("entries of indexes that no session confirms are left out, and removed when they are older than a minute")
    func entries() async throws {
        let store = try fixture.store()
        try await store.create(Samples.session(id, details: SessionDetails(userID: "ada")))
        let (old, new) = (SessionID(high: 1, low: 1), SessionID(high: 2, low: 2))
        let user = RedisRequest.Word.text(store.keys.user("ada"))
        try fixture.ask("ZADD", user, .text("\(RedisStore.now - 61_000)"), .text("\(old)"))
        try fixture.ask("ZADD", user, .text("\(RedisStore.now - 30_000)"), .text("\(new)"))
        #expect(try await store.sessions(ofUser: "ada").map(\.record.id) == [id])
        _ = try await store.standing(of: id)
        #expect(Set(try fixture.ask("ZRANGE", user, "0", "-1").list.compactMap(\.text)) == ["\(id)", "\(new)"])
        // The other indexes say nothing of time.
        let doubts = RedisDoubts()
        let now = ContinuousClock.now
        #expect(!doubts.isOver("a", now: now) && !doubts.isOver("a", now: now + .seconds(60)))
        #expect(doubts.isOver("a", now: now + .seconds(61)) && !doubts.isOver("a", now: now + .seconds(61)))
        let list = RedisRequest.Word.text(store.keys.sessions(with: old))
        try fixture.ask("ZADD", list, "0", .text("\(old)"))
        #expect(try await store.page(after: nil, limit: 10).sessions.map(\.record.id) == [id])
        #expect(!store.doubts.isOver("\(old)") && store.doubts.isOver("\(old)", now: now + .seconds(120)))
        let left = try fixture.ask("ZRANGE", list, "0", "-1").list.compactMap(\.text)
        #expect(left.contains("\(old)"), "\(left), \(id)")
    }

    @Test("entries that no session confirms go one part after the other when they are very many")
    func manyEntries() {
        let doubts = RedisDoubts()
        var left = Set(0..<20_001)
        var now = ContinuousClock.now
        for _ in 0..<6 {
            for entry in left.sorted() where doubts.isOver("\(entry)", now: now) { left.remove(entry) }
            now += .seconds(61)
        }
        #expect(left.isEmpty)
        // Those that were confirmed since make room as well.
        for entry in 0..<10_000 { _ = doubts.isOver("confirmed \(entry)", now: now) }
        now += .seconds(3_601)
        #expect(!doubts.isOver("new", now: now))
        now += .seconds(61)
        #expect(doubts.isOver("new", now: now))
    }

    @Test("expired sessions that another server may know to be in use stay")
    func touches() async throws {
        let store = try fixture.store(useLag: 500)
        try await store.create(Samples.session(id, usedAt: 1_000))
        func ended(_ now: Int64) async throws -> Int {
            try await store.endExpired(
                ExpiryQuery(now: now, idleTimeout: 1_000, retention: 100, limit: 10) { _ in false }
            ).count
        }
        #expect(try await ended(2_599) == 0)
        #expect(try await ended(2_600) == 1)
    }

    @Test("servers share the search for expired sessions; what one of them misses in the list is removed by it")
    func search() async throws {
        let stores = [try fixture.store(), try fixture.store()]
        for _ in 0..<10 { try await stores[0].create(Samples.session(SessionID(random: SystemRandom()))) }
        func looked(_ store: Int) async throws -> Int {
            try await stores[store].endExpired(
                ExpiryQuery(now: 0, idleTimeout: 60_000, retention: 100, limit: 6) { _ in false }
            ).looked
        }
        #expect(try await looked(0) == 6)
        #expect(try await looked(1) == 0)
        try fixture.ask("DEL", .text(stores[0].keys.sweeper))
        #expect(try await looked(1) == 4)
        #expect(try await looked(1) == 6)
        // The first one does not have the turn, and need not come by again.
        let list = RedisRequest.Word.text(stores[0].keys.sessions(with: id))
        try fixture.ask("ZADD", list, "0", .text("\(id)"))
        _ = stores[0].doubts.isOver("\(id)", now: .now - .seconds(61))
        #expect(try await looked(0) == 0)
        _ = try await stores[0].standing(of: id)
        #expect(!(try fixture.ask("ZRANGE", list, "0", "-1").list.compactMap(\.text).contains("\(id)")))
    }

    @Test("a sign-in adds the session to the user's before it and, beside a sign-out elsewhere, after it")
    func signIn() async throws {
        let fixture = try RedisFixture(try RedisTestServer())
        let store = try fixture.store()
        let ada = SessionDetails(userID: "ada")
        try await store.create(Samples.session(id))
        func additions(_ revision: UInt64) async throws -> Int? {
            try fixture.ask("CONFIG", "RESETSTAT")
            let record = Samples.record(id, revision: revision, details: ada)
            try await store.commit(
                SessionCommit(
                    record: record, replacedRevision: revision - 1, changedServices: [], changesServicesOnly: false))
            _ = try await store.standing(of: id)
            let calls = try fixture.ask("INFO", "commandstats").text?.split(separator: "cmdstat_zadd:calls=").last
            return calls.flatMap { Int($0.prefix { $0 != "," }) }
        }
        #expect(try await additions(2) == 2)
        #expect(try await additions(3) == 1)
    }

    @Test("Redis ends what no server ends, if it is told to")
    func net() async throws {
        let now = SystemClock().now()
        let store = try fixture.store(expiryMargin: 60_000)
        func record(_ revision: UInt64, lifetime: Int64 = 60_000) -> SessionRecord {
            SessionRecord(
                id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: now, expiresAt: now + lifetime,
                revision: revision, services: [], details: .none)
        }
        try await store.create(StoredSession(record: record(1), lastUsedAt: now))
        try await store.commit(Samples.commit(record(2), over: 1))
        let left = try #require(try fixture.ask("PTTL", .text(store.keys.session(id))).number)
        #expect((60_000...120_000).contains(left))
        // A later end is later there, too. One that is earlier is none of its business.
        for (revision, lifetime) in [(3, 500_000), (4, 60_000)] as [(UInt64, Int64)] {
            var commit = Samples.commit(record(revision, lifetime: lifetime), over: revision - 1)
            commit.changesServicesOnly = false
            try await store.commit(commit)
            #expect(try fixture.ask("PEXPIRETIME", .text(store.keys.session(id))).number == now + 560_000)
        }
    }

    @Test("what a failure leaves of a user's sessions goes with the last of them")
    func netOfUser() async throws {
        let now = SystemClock().now()
        let store = try fixture.store(expiryMargin: 60_000)
        for (lifetime, latest) in [(60_000, 60_000), (200_000, 200_000), (90_000, 200_000)] as [(Int64, Int64)] {
            let record = SessionRecord(
                id: SessionID(random: SystemRandom()), token: TokenDigest(words: (1, 2, 3, 4)), createdAt: now,
                expiresAt: now + lifetime, revision: 1, services: [], details: SessionDetails(userID: "ada"))
            try await store.create(StoredSession(record: record, lastUsedAt: now))
            let end = try fixture.ask("PEXPIRETIME", .text(store.keys.user("ada"))).number
            #expect(end == now + latest + 60_000)
        }
    }

    @Test("a follower is told of each server's commits, of the end, and once after its connection was lost")
    func follow() async throws {
        let server = try RedisTestServer()
        let fixture = try RedisFixture(server)
        let (one, other) = (try fixture.store(), try fixture.store())
        try await one.create(Samples.session(id))
        let (told, continuation) = AsyncStream.makeStream(of: Void.self)
        one.follow(id) { continuation.yield() }
        var calls = told.makeAsyncIterator()
        // Since the subscription may have missed a change.
        await calls.next()
        try await other.commit(commit(2, over: 1))
        await calls.next()
        try await one.commit(commit(3, over: 2))
        await calls.next()
        try fixture.ask("CLIENT", "KILL", "TYPE", "pubsub")
        await calls.next()
        try await other.commit(commit(4, over: 3))
        await calls.next()
        #expect(try await other.end(id))
        await calls.next()
        one.unfollow(id)
        try await other.receive(SessionArrival(session: Samples.session(id), replacedRevision: nil))
        let revision = try #require(try await other.standing(of: id)).revision
        try await other.commit(commit(revision + 1, over: revision))
        // The connection does what it is told in order: what was told before the end of the subscription has come.
        try await fixture.server.wait("PUBSUB", "SHARDCHANNELS") { $0.list.isEmpty }
        continuation.finish()
        await one.close()
    }

    @Test("the end of a subscription that was lost with its connection does not end the next one")
    func resubscribed() async throws {
        let server = try RedisTestServer()
        let fixture = try RedisFixture(server)
        let proxy = try FaultProxy(to: server.port)
        let store = try fixture.store(port: proxy.port)
        let other = SessionID(high: 1, low: 1)
        let (told, continuation) = AsyncStream.makeStream(of: SessionID.self)
        var calls = told.makeAsyncIterator()
        func next(_ id: SessionID) async { while let told = await calls.next(), told != id {} }
        try await store.create(Samples.session(id))
        store.follow(id) { [id] in continuation.yield(id) }
        await next(id)
        // Both are done, and their replies are lost.
        await proxy.cause(.swallow(.toClient))
        store.unfollow(id)
        try await server.wait("PUBSUB", "SHARDCHANNELS") { $0.list.isEmpty }
        store.follow(id) { [id] in continuation.yield(id) }
        try await server.wait("PUBSUB", "SHARDCHANNELS") { $0.list.count == 1 }
        await proxy.cause(.cut)
        await next(id)
        // Its subscription comes after what was sent before.
        store.follow(other) { continuation.yield(other) }
        await next(other)
        let channels = try fixture.ask("PUBSUB", "SHARDCHANNELS").list.compactMap(\.text)
        #expect(Set(channels) == [store.keys.session(id), store.keys.session(other)])
        await store.close()
        proxy.close()
    }

    @Test("versions of flows that another server has reported since stay in use")
    func flows() async throws {
        let (one, two) = (try fixture.store(), try fixture.store())
        let flow = { UsedFlow(flow: $0, version: 1, states: "x ") }
        try await one.replaceUsedFlows([flow("a")])
        #expect(try await one.usedFlows() == [flow("a")])
        try await two.create(Samples.session(id))
        var begin = commit(2, over: 1)
        begin.newFlows = [flow("b")]
        try await two.commit(begin)
        try await one.replaceUsedFlows([])
        #expect(try await two.usedFlows() == [flow("b")])
    }

    @Test("what was sealed needs its key, and a server without it says so")
    func keys() async throws {
        let sealing = try fixture.store(keys: try EncryptionTests.keys("k1"))
        let details = SessionDetails(labels: SessionLabels(["name": "visible"]))
        try await sealing.create(
            Samples.session(id, [Samples.document(size: 40, letter: "Z")], details: details))
        let hash = try fixture.ask("HGETALL", .text(sealing.keys.session(id))).list.compactMap(\.bytes)
        #expect(!hash.contains { String(decoding: $0, as: UTF8.self).contains("ZZZZ") })
        #expect(!hash.contains { String(decoding: $0, as: UTF8.self).contains("visible") })
        #expect(try await letter(sealing) == Character("Z").asciiValue)
        let both = try fixture.store(keys: try EncryptionTests.keys("k2", "k1"))
        #expect(try await both.load(id)?.record.details.labels == SessionLabels(["name": "visible"]))
        for keys in [nil, try EncryptionTests.keys("k2")] {
            let other = try fixture.store(keys: keys)
            await #expect(throws: StoreError.self) { try await other.load(id) }
            #expect(other.trouble?.contains("encrypted with a key") == true, "\(other.trouble ?? "")")
        }
    }

    @Test("damage is reported, and costs no more than what is damaged")
    func damage() async throws {
        let reports = Reports()
        let store = try fixture.store(report: reports.add)
        try await store.create(Samples.session(id, [Samples.document(0), Samples.document(1)]))
        let key = RedisRequest.Word.text(store.keys.session(id))
        var bytes = try #require(try fixture.ask("HGET", key, "s:profile").bytes)
        bytes[8] ^= 1
        try fixture.ask("HSET", key, "s:profile", .bytes(bytes))
        let services = try #require(try await store.load(id)).record.services
        #expect(services.map(\.service) == [0, 1] && services.map(\.isDamaged) == [true, false])
        // Another service is written, and what is damaged stays as it is.
        try await store.commit(
            SessionCommit(
                record: Samples.record(id, revision: 2, [services[0], Samples.document(1, revision: 2)]),
                replacedRevision: 1, changedServices: [1], changesServicesOnly: true))
        #expect(try fixture.ask("HGET", key, "s:profile").bytes == bytes)
        try fixture.ask("HSET", key, "h", "nothing")
        await #expect(throws: StoreError.self) { try await store.load(id) }
        #expect(try await store.page(after: nil, limit: 10).skipped == 1)
        #expect(reports.all.count == 2)
        #expect(reports.all.first == "The service profile of \(id) is damaged; it cannot be read.")
        #expect(reports.all.last == "The session \(id) is damaged; it cannot be read.")
    }

    @Test("what a failure leaves of a task is removed everywhere by the first who finds it")
    func leftTask() async throws {
        let store = try fixture.store()
        let member = TaskID(session: id, journey: "main", number: 1).member
        let sets = [store.keys.ready("check"), store.keys.overdue, store.keys.tasks]
        for key in sets { try fixture.ask("ZADD", .text(key), "1", .text(member)) }
        _ = store.taskDoubts.isOver("\(sets[0]) \(member)", now: .now - .seconds(61))
        #expect(try await store.claimTasks(TaskClaim(name: "check", limit: 1, now: 2, end: 3)).tasks.isEmpty)
        _ = try await store.standing(of: id)
        for key in sets { #expect(try fixture.ask("EXISTS", .text(key)).number == 0, "\(key)") }
    }

    @Test("a store may be asked for its trouble at the moment at which that ends")
    func endOfTrouble() async throws {
        for _ in 0..<100 {
            let store = try fixture.store()
            while store.trouble != nil {}
            await store.close()
        }
    }

    @Test("each task goes to one of several servers")
    func tasks() async throws {
        let stores = try (0..<2).map { _ in try fixture.store() }
        try await stores[0].create(Samples.session(id))
        var begin = commit(2, over: 1)
        begin.tasks = (2..<202).map { number in
            .begun(
                StoredTask(
                    id: TaskID(session: id, journey: "main", number: number), name: "check", attempts: 3, createdAt: 1,
                    due: Int64(number)))
        }
        try await stores[1].commit(begin)
        let claimed = await withTaskGroup(of: [TaskID].self) { group in
            for number in 0..<10 {
                group.addTask {
                    var ids: [TaskID] = []
                    while true {
                        let claim = TaskClaim(name: "check", limit: 7, now: 500, end: 900)
                        guard let claims = try? await stores[number % 2].claimTasks(claim), !claims.tasks.isEmpty else {
                            return ids
                        }
                        ids += claims.tasks.map(\.id)
                    }
                }
            }
            return await group.reduce([], +)
        }
        #expect(claimed.count == 200 && Set(claimed).count == 200)
    }

    private static func address(_ text: String, _ password: String) throws -> RedisAddress {
        var address = try RedisAddress(text)
        address.password = password
        return address
    }

    @Test("a password that is wrong is said, the right one opens")
    func password() async throws {
        let server = try RedisTestServer(["--requirepass", "open sesame"])
        let address = "redis://127.0.0.1:\(server.port)/3"
        let store = try RedisStore(try Self.address(address, "open sesame"), services: ["profile"])
        try await store.create(Samples.session(id))
        #expect(try await store.load(id) != nil)
        let wrong = try RedisStore(try Self.address(address, "wrong"), services: ["profile"])
        await #expect(throws: StoreError.self) { try await wrong.load(id) }
        #expect(wrong.trouble?.contains("WRONGPASS") == true, "\(wrong.trouble ?? "")")
    }
}
