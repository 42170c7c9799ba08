import RedisTestServer
import SeededRandomness
import Sessions
import Storage
import Synchronization
import Testing

@testable import RedisStorage

@Suite("Opening a Redis") struct RedisOpeningTests {
    /// Waits for the first attempt to connect, and says why no attempt will succeed.
    private func refusal(of store: RedisStore) async -> String? {
        _ = try? await store.standing(of: SessionID(high: 1, low: 1))
        let refusal = store.refusal
        await store.close()
        return refusal
    }

    // MARK: Rights

    @Test("a user with the least rights may do all that the contract of stores does not ask for")
    func leastRights() async throws {
        let fixture = try RedisFixture(try RedisTestServer.shared.get())
        try fixture.addUser(fixture.prefix)
        let store = try fixture.store(user: fixture.prefix, password: "word")
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        let id = SessionID(random: SystemRandom())
        store.follow(id) { continuation.yield() }
        var iterator = changes.makeAsyncIterator()
        await iterator.next()
        try await store.create(Samples.session(id))
        await iterator.next()
        store.unfollow(id)
        #expect(store.durability == .commit)
        await store.close()
    }

    @Test("each right that is missing is told by its name")
    func missingRights() async throws {
        let fixture = try RedisFixture(try RedisTestServer.shared.get())
        let user = fixture.prefix
        let rights = RedisRights.rules(prefix: "").filter { $0.first == "+" }.map { String($0.dropFirst()) }
        #expect(rights.count > 20)
        for right in rights where right != RedisRights.settings {
            try fixture.addUser(user, "-\(right)")
            let refusal = await refusal(of: try fixture.store(user: user, password: "word")) ?? ""
            #expect(refusal.lowercased().contains(right.split(separator: "|")[0]), "\(right): \(refusal)")
            #expect(refusal.contains("docs/scaling.md") && refusal.contains(user), "\(refusal)")
        }
        let others = [(["resetkeys", "~other:*"], "ZADD"), (["resetchannels", "&other:*"], "SPUBLISH, SSUBSCRIBE")]
        for (rules, named) in others {
            try fixture.addUser(user, rules[0], rules[1])
            let refusal = await refusal(of: try fixture.store(user: user, password: "word")) ?? ""
            #expect(refusal.contains(named) && refusal.contains("\(fixture.prefix)*"), "\(refusal)")
        }
    }

    @Test("docs/scaling.md has the rules")
    func documented() throws {
        let folder = #filePath.split(separator: "/").dropLast(3).joined(separator: "/")
        let page = String(decoding: try Files.read("/\(folder)/docs/scaling.md"), as: UTF8.self)
        let line = RedisRights.rules(prefix: RedisStore.usualPrefix).joined(separator: " ")
        #expect(page.replacing(" \\\n   ", with: "").replacing("'", with: "").contains(line), "\(line)")
    }

    // MARK: Who may come in

    @Test("a wrong password, a missing one and a needless one are told, without it")
    func passwords() async throws {
        let fixture = try RedisFixture(try RedisTestServer(["--requirepass", "open sesame"]))
        let wrong = await refusal(of: try fixture.store(password: "wrong word"))
        #expect(wrong?.contains("its password is another one than in redis_password_file") == true, "\(wrong ?? "")")
        #expect(wrong?.contains("wrong word") == false)
        let missing = await refusal(of: try fixture.store())
        #expect(missing?.contains("name the file of the password") == true, "\(missing ?? "")")
        let none = await refusal(of: try fixture.store(password: "open sesame"))
        #expect(none == nil)
        let needless = await refusal(of: try RedisFixture(try RedisTestServer.shared.get()).store(password: "needless"))
        #expect(needless?.contains("it has no password for user \"default\"") == true, "\(needless ?? "")")
        let unknown = await refusal(
            of: try RedisFixture(try RedisTestServer.shared.get()).store(user: "nobody", password: "word"))
        #expect(unknown?.contains("there is no user \"nobody\"") == true, "\(unknown ?? "")")
    }

    @Test("another key than that of the sessions is told, and waiting does not help")
    func otherKey() async throws {
        let fixture = try RedisFixture(try RedisTestServer.shared.get())
        let first = await refusal(of: try fixture.store(keys: try EncryptionTests.keys("k1")))
        #expect(first == nil)
        let second = await refusal(of: try fixture.store(keys: try EncryptionTests.keys("k2")))
        #expect(second?.contains("encrypted with a key \"k1\"") == true, "\(second ?? "")")
    }

    /// The outcome of a request at a Redis that greets so, and why no attempt can succeed.
    private func greeted(_ greeting: String) async throws -> (outcome: String, refusal: String?) {
        let listener = try TestListener { _ in greeting }
        let connection = try RedisConnection("test", to: try RedisAddress("redis://127.0.0.1:\(listener.port)"))
        let ends = Results()
        if let refusal = connection.append(RedisRequest("PING"), then: { ends.add($0) }) {
            ends.add(.failed(refusal))
        }
        let outcome = await ends.next()
        defer { connection.close() }
        return ("\(outcome, default: "")", connection.refusal)
    }

    @Test(
        "a Redis before 7.0 is refused",
        arguments: [
            (TestListener.greeting("6.2.14"), "6.2.14"), ("-ERR unknown command 'HELLO'\r\n+PONG\r\n", "before 6.0"),
        ])
    func old(greeting: String, version: String) async throws {
        let (outcome, refusal) = try await greeted(greeting)
        #expect(outcome.contains("7.0 or newer") && outcome.contains(version), "\(outcome)")
        #expect(refusal?.contains("7.0 or newer") == true)
        let new = try await greeted(TestListener.greeting("7.0.0"))
        #expect(new.refusal == nil)
    }

    @Test("what may pass by itself is no refusal")
    func passing() async throws {
        let (outcome, refusal) = try await greeted("-LOADING Redis is loading the dataset in memory\r\n+PONG\r\n")
        #expect(outcome.contains("LOADING") && refusal == nil, "\(outcome)")
    }

    // MARK: Settings of Redis

    @Test("what Redis loses is known, and told once")
    func settings() async throws {
        let fixture = try RedisFixture(try RedisTestServer())
        let warnings = Mutex<[String]>([])
        func found(after change: [String]) async throws -> (Durability?, [String]) {
            if !change.isEmpty { try fixture.ask("CONFIG", "SET", .text(change[0]), .text(change[1])) }
            warnings.withLock { $0 = [] }
            let store = try fixture.store(warn: { text in warnings.withLock { $0.append(text) } })
            _ = try await store.standing(of: SessionID(high: 1, low: 1))
            // A connection that finds the same says nothing again.
            try fixture.ask("CLIENT", "KILL", "TYPE", "normal")
            _ = try await fixture.recovery(of: store)
            await store.close()
            return (store.durability, warnings.withLock(\.self))
        }
        let good = try await found(after: [])
        #expect(good.0 == .commit && good.1.isEmpty)
        let second = try await found(after: ["appendfsync", "everysec"])
        #expect(second.0 == .interval(.seconds(1)) && second.1.count == 1 && second.1[0].contains("last second"))
        let system = try await found(after: ["appendfsync", "no"])
        #expect(system.0 == Durability.none && system.1.count == 1 && system.1[0].contains("operating system"))
        let off = try await found(after: ["appendonly", "no"])
        #expect(off.0 == Durability.none && off.1.count == 1 && off.1[0].contains("appendonly no"))
        let policy = try await found(after: ["maxmemory-policy", "volatile-ttl"])
        #expect(policy.1.count == 2 && policy.1[1].contains("volatile-ttl"), "\(policy.1)")
    }

    @Test("a Redis that does not tell its settings is used, and that is told")
    func hidden() async throws {
        let fixture = try RedisFixture(try RedisTestServer.shared.get())
        try fixture.addUser(fixture.prefix, "-\(RedisRights.settings)")
        let warnings = Mutex<[String]>([])
        let store = try fixture.store(
            user: fixture.prefix, password: "word", warn: { text in warnings.withLock { $0.append(text) } })
        try await store.create(Samples.session())
        #expect(store.durability == nil)
        let told = warnings.withLock(\.self)
        #expect(told.count == 1 && told[0].contains("could not be checked"), "\(told)")
        await store.close()
    }

    @Test("a Redis that takes no writes for want of a replica is connected to and read, encrypted or not")
    func noReplica() async throws {
        let fixture = try RedisFixture(try RedisTestServer())
        let keys = try EncryptionTests.keys("k1")
        let first = try fixture.store(keys: keys)
        try await first.create(Samples.session(SessionID(high: 1, low: 1)))
        await first.close()
        try fixture.ask("CONFIG", "SET", "min-replicas-to-write", "1")
        let store = try fixture.store(keys: keys)
        #expect(try await store.load(SessionID(high: 1, low: 1)) != nil)
        await #expect(throws: StoreError.self) { try await store.create(Samples.session(SessionID(high: 1, low: 2))) }
        await store.close()
    }

    // MARK: Coming back

    @Test("the attempts of many to connect are spread, also the first ones")
    func pauses() {
        var random = SeededGenerator(seed: 7)
        let ranges = [(0, 0...50), (1, 25...50), (2, 50...100), (4, 200...400), (5, 250...500), (99, 250...500)]
        for (failures, range) in ranges {
            let pauses = (0..<200).map { _ in RedisConnection.pause(after: failures, &random) }
            let allowed = Duration.milliseconds(range.lowerBound) ... .milliseconds(range.upperBound)
            #expect(pauses.allSatisfy(allowed.contains))
            // In each fifth of the range some.
            let width = Duration.milliseconds(range.count - 1) / 5
            let fifths = pauses.map { Int(($0 - .milliseconds(range.lowerBound)) / width) }
            #expect(Set(fifths).isSuperset(of: 0..<5), "after \(failures) failures")
        }
    }

    @Test("Redis may be away for a while before the store is in trouble; requests fail meanwhile")
    func grace() async throws {
        let fixture = try RedisFixture(try RedisTestServer())
        let store = try fixture.store(grace: .milliseconds(800))
        _ = try await store.standing(of: SessionID(high: 1, low: 1))
        let start = ContinuousClock.now
        fixture.server.kill()
        var refusals = 0
        while store.trouble == nil {
            try #require(.now - start < .seconds(20))
            if (try? await store.standing(of: SessionID(high: 1, low: 1))) == nil { refusals += 1 }
        }
        #expect(.now - start >= .milliseconds(800) && refusals > 0)
        try fixture.server.start()
        let time = try await fixture.recovery(of: store)
        #expect(time < .seconds(15) && store.trouble == nil, "\(time)")
        await store.close()
    }

    @Test("a request whose connection was lost fails at its deadline, and is not sent later")
    func deadline() async throws {
        // Whether the other side greets, and what has come since it does again.
        let phase = Mutex((greets: true, later: ""))
        let listener = try TestListener { piece in
            phase.withLock { phase in
                phase.later += piece
                if piece.contains("HELLO") { return phase.greets ? TestListener.greeting() : nil }
                return piece.contains("late") ? nil : "+PONG\r\n"
            }
        }
        var settings = RedisStore.Settings()
        settings.deadline = .seconds(2)
        let connection = try RedisConnection(
            "test", to: try RedisAddress("redis://127.0.0.1:\(listener.port)"), settings: settings)
        let ends = Results()
        try await connect(connection, ends)
        let start = ContinuousClock.now
        #expect(connection.append(RedisRequest("GET", "late"), then: { ends.add($0) }) == nil)
        phase.withLock { $0.greets = false }
        // Late in its time the connection is lost, and nobody greets on the next one, which gives it no new deadline.
        try await Task.sleep(until: start + .milliseconds(1_900), clock: .continuous)
        listener.cut()
        let lost = ContinuousClock.now
        let end = await ends.next()
        #expect(.now - lost < .seconds(2))
        guard case .failed? = end else { throw Unexpected() }
        phase.withLock { $0 = (true, "") }
        try await connect(connection, ends)
        #expect(phase.withLock { !$0.later.contains("late") })
        connection.close()
    }

    /// Waits until a request gets its reply.
    private func connect(_ connection: RedisConnection, _ ends: Results) async throws {
        let start = ContinuousClock.now
        while true {
            try #require(.now - start < .seconds(60))
            guard connection.append(RedisRequest("PING"), then: { ends.add($0) }) == nil else {
                await Task.yield()
                continue
            }
            if case .replies? = await ends.next() { return }
        }
    }

    private struct Unexpected: Error {}

    /// Outcomes, in their order.
    private final class Results: Sendable {
        private let (stream, continuation) = AsyncStream.makeStream(of: RedisConnection.Outcome.self)

        @Sendable func add(_ outcome: RedisConnection.Outcome) { continuation.yield(outcome) }

        func next() async -> RedisConnection.Outcome? {
            var iterator = stream.makeAsyncIterator()
            return await iterator.next()
        }
    }
}
