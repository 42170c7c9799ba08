import JSONDocument
import Sessions
import Testing

@Suite("Moving sessions")
struct MovingTests {
    @Test("brings everything over, and the tokens open it")
    func roundTrip() async throws {
        let from = try SessionsFixture()
        let to = try SessionsFixture(clock: from.clock)
        var moved: [(Session, SessionToken)] = []
        for number in 0..<40 { moved.append(try await from.furnished("n\(number)")) }
        let lines = try await exported(from.sessions)
        #expect(lines.count == 42)
        let report = try await imported(lines, into: to.sessions)
        #expect(report.read == 40 && report.imported == 40 && report.isComplete && report.errors.isEmpty)
        for (session, token) in moved {
            let before = try await #require(from.store.load(session.id)).record
            let after = try await #require(to.store.load(session.id)).record
            #expect(after.revision == before.revision && after.token == before.token && after.userID == before.userID)
            #expect(after.createdAt == before.createdAt && after.expiresAt == before.expiresAt)
            #expect(after.details.labels == before.details.labels && after.details.mode == .cookie)
            #expect(
                after.details.retiredTokens.map { [$0.givenAt, $0.retiredAt, $0.graceEndsAt] }
                    == before.details.retiredTokens.map { [$0.givenAt, $0.retiredAt, $0.graceEndsAt] })
            #expect(after.details.retiredTokens.map(\.digest) == before.details.retiredTokens.map(\.digest))
            #expect(after.services.map(\.bytes) == before.services.map(\.bytes))
            #expect(after.services.map(\.revision) == before.services.map(\.revision))
            #expect(after.services.map(\.birth) == before.services.map(\.birth))
            #expect(after.services.map(\.updatedAt) == before.services.map(\.updatedAt))
            #expect(try await to.isAuthenticated(token))
        }
        #expect(try await to.sessions.sessions(ofUser: "user-n3").count == 1)
        // And from there on exactly the same.
        let again = try await exported(to.sessions)
        #expect(again[1...] == lines[1...])
    }

    @Test("sent again it changes nothing; what has ended here in between comes back")
    func again() async throws {
        let from = try SessionsFixture()
        let to = try SessionsFixture(clock: from.clock)
        var ids: [Session] = []
        for number in 0..<10 { ids.append(try await from.furnished("n\(number)").0) }
        let lines = try await exported(from.sessions)
        _ = try await imported(lines, into: to.sessions)
        let changed = try #require(try await to.sessions.session(ids[0].id))
        try await to.perform(.put(["count": 9]), on: "counter", changed)
        let ended = try #require(try await to.sessions.session(ids[1].id))
        try await to.sessions.end(ended)
        let report = try await imported(lines, into: to.sessions)
        #expect(report.imported == 1 && report.skipped == 9 && report.isComplete)
        #expect(try to.get("counter", changed).document == ["count": 9])
    }

    @Test("in place of what is here it is seen at once, and no entity tag comes back")
    func replacing() async throws {
        let from = try SessionsFixture()
        let to = try SessionsFixture(clock: from.clock)
        let (session, token) = try await from.furnished("a")
        let lines = try await exported(from.sessions)
        _ = try await imported(lines, into: to.sessions)
        let here = try #require(try await to.sessions.session(session.id))
        var seen: Set<ServiceETag> = [try to.get("counter", here).etag]
        for count in 10..<15 {
            seen.insert(try await to.perform(.put(["count": JSONDocument(count)]), on: "counter", here).etag)
        }
        try await to.perform(.put(["items": ["x"]]), on: "cart", here)
        let other = try await to.sessions.rotate(here)
        for _ in 0..<2 {
            let spy = try ChangeSpy(here)
            let report = try await imported(lines, into: to.sessions, .replace)
            #expect(report.imported == 1 && report.replaced == 1 && report.skipped == 0)
            let counter = try to.get("counter", here)
            #expect(counter.document == ["count": 3])
            #expect(seen.insert(counter.etag).inserted)
            #expect(try to.get("cart", here).etag == .unwritten)
            #expect(spy.end == .gap)
        }
        #expect(try await to.isAuthenticated(token))
        #expect(try await !to.isAuthenticated(other))
        // Writes go on from there, in memory and in the store.
        let next = try await to.perform(.put(["count": 99]), on: "counter", here).etag
        #expect(!seen.contains(next))
        #expect(try await to.store.load(session.id)?.record.revision == next.revision)
    }

    @Test("as a trial it says what would become of it, and does nothing")
    func trial() async throws {
        let from = try SessionsFixture()
        let to = try SessionsFixture(clock: from.clock)
        for number in 0..<5 { _ = try await from.furnished("n\(number)") }
        let lines = try await exported(from.sessions)
        let report = try await imported(lines, into: to.sessions, isTrial: true)
        #expect(report.imported == 5 && to.store.sessionCount == 0)
        _ = try await imported(Array(lines[..<3]), into: to.sessions)
        #expect(try await imported(lines, into: to.sessions, isTrial: true).skipped == 2)
        #expect(try await imported(lines, into: to.sessions, .replace, isTrial: true).replaced == 2)
        #expect(to.store.sessionCount == 2)
    }

    @Test("an export goes on behind any line, and has each session once while others come and go")
    func resuming() async throws {
        let fixture = try SessionsFixture()
        for _ in 0..<300 { _ = try await fixture.session() }
        let lines = try await exported(fixture.sessions)
        for place in [1, 100, 300] {
            let cursor = try #require(try JSONDocument(parsing: lines[place])[member: "cursor"]?.string)
            let rest = try await exported(fixture.sessions, after: SessionCursor(text: cursor))
            #expect(rest[1..<(rest.count - 1)] == lines[(place + 1)..<301])
            #expect(try JSONDocument(parsing: rest[0])[member: "after"]?.string == cursor)
        }
        let export = SessionExport(of: fixture.sessions, program: "test")
        var found: [String] = []
        while let piece = try await export.next() {
            let (session, _) = try await fixture.sessions.create()
            try await fixture.perform(.put(["count": 1]), on: "counter", session)
            for line in piece.split(separator: UInt8(ascii: "\n")) {
                if let id = try JSONDocument(parsing: Array(line))[member: "session"]?.string { found.append(id) }
            }
        }
        let before = try lines.compactMap { try JSONDocument(parsing: $0)[member: "session"]?.string }
        #expect(Set(found).isSuperset(of: before) && Set(found).count == found.count)
    }

    @Test("sessions whose time is over are neither exported nor taken in")
    func expired() async throws {
        let from = try SessionsFixture()
        _ = try await from.session()
        let lines = try await exported(from.sessions)
        from.clock.advance(from.sessions.settings.idleTimeout)
        #expect(try await exported(from.sessions).count == 2)
        let report = try await imported(lines, into: try SessionsFixture(clock: from.clock).sessions)
        #expect(report.read == 1 && report.skipped == 1 && report.expired == 1 && report.isComplete)
    }

    @Test("a clock that is ahead by minutes makes nothing later than now; one that is ahead by more is told")
    func clocks() async throws {
        let from = try SessionsFixture()
        let session = try await from.furnished("a").0
        let to = try SessionsFixture()
        from.clock.jump(300_000)
        #expect(try await imported(try await exported(from.sessions), into: to.sessions).imported == 1)
        let stored = try #require(try await to.store.load(session.id))
        let now = to.clock.now()
        #expect(stored.record.createdAt == now && stored.lastUsedAt == now)
        #expect(stored.record.services.allSatisfy { $0.createdAt == now && $0.updatedAt == now })
        #expect(stored.record.expiresAt == now + to.sessions.settings.lifetime)
        from.clock.jump(1)
        let report = try await imported(try await exported(from.sessions), into: try SessionsFixture().sessions)
        #expect(report.refused == 1 && report.isComplete)
        let pointers = Set(report.errors.map(\.problem.pointer))
        #expect(pointers.isSuperset(of: ["/created_at", "/used_at", "/services/0/updated_at"]))
        #expect(pointers.isSuperset(of: ["/retired_tokens/0/retired_at"]))
    }

    @Test("those that come without being asked for end when their time is over")
    func expiresHere() async throws {
        let from = try SessionsFixture()
        let to = try SessionsFixture(clock: from.clock)
        _ = try await from.session()
        _ = try await imported(try await exported(from.sessions), into: to.sessions)
        to.clock.advance(to.sessions.settings.idleTimeout)
        _ = await to.sessions.sweep()
        #expect(to.store.sessionCount == 0)
    }

    @Test("stops when there are as many as there may be, says how far it came, and goes on from there")
    func tooMany() async throws {
        let from = try SessionsFixture()
        for _ in 0..<300 { _ = try await from.session() }
        let lines = try await exported(from.sessions)
        let to = try SessionsFixture(clock: from.clock) { $0.maxSessions = 200 }
        var work = SessionImport(into: to.sessions)
        do {
            try await work.take(lines.flatMap { $0 + [UInt8(ascii: "\n")] })
            Issue.record("nothing was thrown")
        } catch let error as SessionError {
            #expect(error == .tooManySessions)
        }
        #expect(to.store.sessionCount == 200 && work.report.imported == 200 && !work.report.isComplete)
        #expect(work.report.last != nil && work.report.read == 200)
        for session in try await to.store.page(after: nil, limit: 150).sessions {
            try await to.sessions.end(try #require(try await to.sessions.session(session.record.id)))
        }
        // Which of them are still there depends on the order in which the first import was committed.
        let more = try await imported(Array(lines[..<151]), into: to.sessions)
        #expect(more.imported + more.skipped == 150 && to.store.sessionCount <= 200)
    }
}

/// The lines of an export, without their ends.
func exported(_ sessions: Sessions, after: SessionCursor? = nil) async throws -> [[UInt8]] {
    let export = SessionExport(of: sessions, program: "test", after: after)
    var bytes: [UInt8] = []
    while let piece = try await export.next() { bytes += piece }
    #expect(bytes.last == UInt8(ascii: "\n"))
    return bytes.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Array.init)
}

func imported(
    _ lines: [[UInt8]], into sessions: Sessions, _ conflict: SessionImport.Conflict = .skip, isTrial: Bool = false
) async throws -> ImportReport {
    var work = SessionImport(into: sessions, conflict: conflict, isTrial: isTrial)
    try await work.take(lines.flatMap { $0 + [UInt8(ascii: "\n")] })
    return work.report
}

extension SessionsFixture {
    /// A session with something of everything.
    func furnished(_ name: String) async throws -> (Session, SessionToken) {
        let (session, _) = try await sessions.create(labels: ["name": JSONDocument(name)], mode: .cookie)
        try await perform(
            .put(["name": JSONDocument(name), "attributes": ["deep": [[["x"]]]]]), on: "profile", session)
        try await perform(.put(["count": 3]), on: "counter", session)
        _ = try await sessions.attachUser("user-\(name)", claims: ["a": "\"\\\n"], to: session)
        let token = try await sessions.rotate(session)
        return (session, token)
    }
}
