import JSONDocument
import Sessions
import Testing

@Suite struct PagingTests {
    private let fixture: SessionsFixture

    init() throws { fixture = try SessionsFixture() }

    private func pages(_ limit: Int, userID: String? = nil, between: () async throws -> Void = {}) async throws
        -> [[SessionID]]
    {
        var pages: [[SessionID]] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await fixture.sessions.page(after: cursor, limit: limit, userID: userID)
            pages.append(page.sessions.map(\.id))
            cursor = try page.next.map { try SessionCursor(text: $0.text) }
            try await between()
        } while cursor != nil
        return pages
    }

    @Test("pages give every session once, in an order that stays", arguments: [1, 7, 20, 21, 100])
    func all(limit: Int) async throws {
        var ids: [SessionID] = []
        for _ in 0..<20 { ids.append(try await fixture.session().id) }
        let pages = try await pages(limit)
        #expect(pages.flatMap { $0 } == (try await self.pages(100)[0]))
        #expect(pages.flatMap { $0 }.sorted() == ids.sorted())
        #expect(pages.dropLast().allSatisfy { $0.count == limit })
        #expect(pages.last?.isEmpty == false)
    }

    @Test("what is there all the time is on exactly one page, whatever comes and goes")
    func changing() async throws {
        var staying: [SessionID] = []
        var leaving: [Session] = []
        for number in 0..<60 {
            let session = try await fixture.session()
            if number % 2 == 0 { staying.append(session.id) } else { leaving.append(session) }
        }
        let seen = try await pages(5) {
            _ = try await fixture.session()
            if let session = leaving.popLast() { try await fixture.sessions.end(session) }
        }.flatMap { $0 }
        #expect(Set(seen).count == seen.count)
        #expect(Set(staying).isSubset(of: seen))
    }

    @Test("places that cannot be read are passed over, in lists and exports, which count them")
    func damage() async throws {
        let store = StoreWrapper()
        let fixture = try SessionsFixture(store: store)
        for _ in 0..<20 { _ = try await fixture.session() }
        // Of each page some is left, and of some nothing.
        store.afterPage.withLock {
            $0 = { page in
                SessionPage(
                    sessions: page.sessions.filter { $0.record.id.low % 3 == 0 }, next: page.next,
                    skipped: page.sessions.count { $0.record.id.low % 3 != 0 })
            }
        }
        var seen: [SessionID] = []
        var cursor: SessionCursor?
        repeat {
            let page = try await fixture.sessions.page(after: cursor, limit: 2)
            seen += page.sessions.map(\.id)
            cursor = page.next
            #expect(page.sessions.count == 2 || cursor == nil)
        } while cursor != nil
        let left = seen.count
        #expect(Set(seen).count == left && seen.allSatisfy { $0.low % 3 == 0 })
        let lines = try await exported(fixture.sessions)
        let end = try JSONDocument(parsing: #require(lines.last))[member: "end"]
        #expect(lines.count == left + 2 && end?[member: "sessions"]?.int == left)
        #expect(end?[member: "skipped"]?.int == (left == 20 ? nil : 20 - left))
        let report = try await imported(lines, into: try SessionsFixture(clock: fixture.clock).sessions)
        #expect(report.imported == left && report.isComplete)
        #expect(report.errors.map(\.problem.pointer) == (left == 20 ? [] : ["/end/skipped"]))
    }

    @Test("lists can be narrowed to a user and to those that can be used")
    func filters() async throws {
        let old = try await fixture.session()
        fixture.clock.advance(1_000_000)
        var ids: [SessionID] = []
        for _ in 0..<5 {
            let session = try await fixture.session()
            _ = try await fixture.sessions.attachUser("ada", to: session)
            ids.append(session.id)
        }
        #expect(try await pages(2, userID: "ada").flatMap { $0 } == ids.sorted())
        #expect(try await pages(2, userID: "bob") == [[]])
        fixture.clock.advance(900_000)
        #expect(try await fixture.sessions.page(limit: 10, isActive: true).sessions.map(\.id).sorted() == ids.sorted())
        // Nothing that can be used is behind them.
        #expect(try await fixture.sessions.page(limit: 5, isActive: true).next == nil)
        #expect(try await fixture.sessions.page(limit: 10, isActive: false).sessions.map(\.id) == [old.id])
        #expect(try await fixture.sessions.page(limit: 10).sessions.count == 6)
    }
}
