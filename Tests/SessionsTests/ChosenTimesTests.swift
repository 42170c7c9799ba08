import JSONDocument
import Testing

@testable import Sessions

/// What "remember me" asks for: times of one session, which a back end chooses at a sign-in.
@Suite struct ChosenTimesTests {
    private static let minute: Int64 = 60_000
    private static let day: Int64 = 86_400_000
    private static let month = ChosenTimes(idleTimeout: 10 * day, lifetime: 30 * day)

    private static func fixture(store: any SessionStore = MemoryStore()) throws -> SessionsFixture {
        try SessionsFixture(store: store) {
            ($0.longestIdleTimeout, $0.longestLifetime) = (14 * day, 90 * day)
        }
    }

    /// How long a session lasts from now on, unused and in any case.
    private static func left(_ session: Session, _ fixture: SessionsFixture) throws -> [Int64] {
        let (summary, now) = (try session.summary(), fixture.clock.wall(at: fixture.clock.now()))
        return [summary.idleExpiresAt, summary.expiresAt].map { $0.millisecondsSince1970 - now }
    }

    private static func signIn(
        _ user: String, _ times: ChosenTimes = .none, to session: Session, _ fixture: SessionsFixture
    ) async throws -> SessionToken {
        try await fixture.sessions.attach(UserClaims(userID: user, times: times), to: session).token
    }

    @Test("they count from the sign-in on, and each use extends the session by the chosen timeout")
    func chosen() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        fixture.clock.advance(10 * Self.minute)
        let token = try await Self.signIn("ada", Self.month, to: session, fixture)
        for _ in 0..<3 {
            fixture.clock.advance(9 * Self.day)
            await fixture.sessions.sweep()
            #expect(try await fixture.isAuthenticated(token))
        }
        #expect(try Self.left(session, fixture) == [3 * Self.day, 3 * Self.day])
        fixture.clock.advance(3 * Self.day)
        #expect(try await !fixture.isAuthenticated(token))
        await fixture.sessions.sweep()
        #expect(fixture.sessions.statistics.live == 0)
    }

    @Test("they are kept with the session, in memory and out of it")
    func kept() async throws {
        let store = StoreWrapper()
        let fixture = try Self.fixture(store: store)
        let session = try await fixture.session()
        let token = try await Self.signIn("ada", Self.month, to: session, fixture)
        let other = try Self.fixture(store: store)
        other.clock.advance(9 * Self.day)
        await other.sessions.sweepStore()
        #expect(try await other.isAuthenticated(token))
        other.clock.advance(10 * Self.day)
        await other.sessions.sweep()
        #expect(try await !other.isAuthenticated(token))
        try await other.sessions.saveUses()
        other.clock.advance(3_600_000)
        _ = await other.sessions.sweepStore()
        #expect(store.sessionCount == 0)
    }

    @Test("another server that has the session in memory knows them before it ends it")
    func shared() async throws {
        let (hub, clock) = (SharedStore(), ManualClock(isStill: true))
        func server() throws -> SessionsFixture {
            try SessionsFixture(store: hub.door(), clock: clock) {
                ($0.idleTimeout, $0.touchInterval, $0.longestIdleTimeout) = (60_000, 3_000, Self.day)
            }
        }
        let (one, two) = (try server(), try server())
        let (session, guest) = try await one.sessions.create()
        _ = try await two.sessions.authenticate(guest.presented)
        let token = try await Self.signIn("ada", ChosenTimes(idleTimeout: 600_000), to: session, one)
        clock.advance(120_000)
        for server in [one, two] {
            await server.sessions.sweep()
            await server.sessions.sweepStore()
        }
        #expect(two.sessions.statistics.live == 1)
        #expect(try await two.isAuthenticated(token))
    }

    @Test("one that ends sooner than others is ended at its time, and who watches it is told")
    func sooner() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        let token = try await Self.signIn("ada", ChosenTimes(idleTimeout: 2 * Self.minute), to: session, fixture)
        let spy = try ChangeSpy(session)
        fixture.clock.advance(2 * Self.minute)
        #expect(try await !fixture.isAuthenticated(token))
        await fixture.sessions.sweep()
        #expect(spy.changes.last == .ended(.expired) && fixture.sessions.statistics.live == 0)
    }

    /// Who signs in an hour after a remembered user, or nobody for a sign-out, and how many minutes the session lasts
    /// then, unused and in any case.
    @Test(
        "they are the user's: whoever comes next has the common times",
        arguments: [
            ("ada", .none, [14_400, 43_140]), ("ada", ChosenTimes(lifetime: day), [1_440, 1_440]),
            ("bob", .none, [30, 720]), ("bob", ChosenTimes(idleTimeout: day), [720, 720]), (nil, .none, [30, 720]),
        ] as [(String?, ChosenTimes, [Int64])])
    func next(user: String?, times: ChosenTimes, left: [Int64]) async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        var token = try await Self.signIn("ada", Self.month, to: session, fixture)
        fixture.clock.advance(60 * Self.minute)
        if let user {
            token = try await Self.signIn(user, times, to: session, fixture)
        } else {
            try await fixture.sessions.detachUser(from: session)
        }
        #expect(try await fixture.isAuthenticated(token))
        #expect(try Self.left(session, fixture) == left.map { $0 * Self.minute })
        let stored = try #require(try await fixture.store.load(session.id)).record
        #expect(stored.expiresAt == fixture.clock.now() + left[1] * Self.minute)
    }

    @Test("signing in without them changes no time")
    func common() async throws {
        let fixture = try Self.fixture()
        let session = try await fixture.session()
        fixture.clock.advance(20 * Self.minute)
        let end = try session.summary().expiresAt
        _ = try await Self.signIn("ada", to: session, fixture)
        _ = try await Self.signIn("bob", to: session, fixture)
        #expect(try session.summary().expiresAt == end)
    }

    @Test(
        "what is beyond the bounds is refused, and without bounds what is beyond the common times",
        arguments: [
            (ChosenTimes(idleTimeout: 1_209_600_001), "/idle_timeout", true),
            (ChosenTimes(idleTimeout: 90_999), "/idle_timeout", true),
            (ChosenTimes(lifetime: 7_776_000_001), "/lifetime", true),
            (ChosenTimes(lifetime: 999), "/lifetime", true), (ChosenTimes(lifetime: -1), "/lifetime", true),
            (ChosenTimes(idleTimeout: 1_800_001), "/idle_timeout", false),
            (ChosenTimes(lifetime: 43_200_001), "/lifetime", false),
            (ChosenTimes(idleTimeout: 91_000, lifetime: 1_000), nil, false),
            (ChosenTimes(idleTimeout: 1_800_000, lifetime: 43_200_000), nil, false),
            (ChosenTimes(idleTimeout: 1_209_600_000, lifetime: 7_776_000_000), nil, true),
        ] as [(ChosenTimes, String?, Bool)])
    func bounds(times: ChosenTimes, pointer: String?, hasBounds: Bool) async throws {
        let fixture = hasBounds ? try Self.fixture() : try SessionsFixture()
        let session = try await fixture.session()
        do {
            _ = try await Self.signIn("ada", times, to: session, fixture)
            #expect(pointer == nil)
        } catch SessionError.invalid(let errors) {
            #expect(errors.map(\.pointer) == [pointer])
            #expect(session.identity.userID == nil)
        }
    }

    @Test("they are texts of durations", arguments: ["30d", "P30D", "43200m"])
    func texts(lifetime: String) async throws {
        let lifetime = JSONDocument(lifetime)
        let user = try UserClaims(["user_id": "ada", "idle_timeout": "36h", "lifetime": lifetime], at: "")
        #expect(user.times == ChosenTimes(idleTimeout: 36 * 60 * Self.minute, lifetime: 30 * Self.day))
    }

    @Test(
        "anything else is refused with its place",
        arguments: ["30", "30 days", "P1M", 30, .null, ["d"], "999999999999999999d"] as [JSONDocument])
    func wrong(lifetime: JSONDocument) {
        #expect {
            _ = try UserClaims(["user_id": "ada", "lifetime": lifetime], at: "/sign_in")
        } throws: { error in
            guard case SessionError.inputInvalid(let errors) = error else { return false }
            return errors.map(\.pointer) == ["/sign_in/lifetime"]
        }
    }

    @Test("an export has them; an import takes as much as may be chosen there")
    func moved() async throws {
        let from = try Self.fixture()
        let session = try await from.session()
        _ = try await Self.signIn("ada", Self.month, to: session, from)
        let lines = try await exported(from.sessions)
        let (same, strict) = (try Self.fixture(), try SessionsFixture())
        let common = [30 * Self.minute, 12 * 60 * Self.minute]
        for (fixture, left) in [(same, [10 * Self.day, 30 * Self.day]), (strict, common)] {
            #expect(try await imported(lines, into: fixture.sessions).errors.isEmpty)
            let there = try #require(try await fixture.sessions.session(session.id))
            #expect(try Self.left(there, fixture) == left)
        }
    }
}
