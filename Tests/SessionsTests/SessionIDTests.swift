import Synchronization
import Testing

@testable import Sessions

@Suite("Ids of sessions")
struct SessionIDTests {
    private static let now: Int64 = 1_700_000_000_000

    @Test("an id begins with the time at which it was made; the rest is random")
    func time() {
        let random = SystemRandom()
        let ids = (0..<100).map { _ in SessionIDSource().next(at: Self.now, random: random) }
        #expect(ids.allSatisfy { $0.high >> 16 == UInt64(Self.now) })
        #expect(Set(ids.map(\.low)).count == 100)
        #expect(Set(ids.map { $0.high & 0xFFFF }).count > 50)
    }

    @Test("ids grow, also within a millisecond and when the clock is set back")
    func growing() {
        let source = SessionIDSource()
        let random = SystemRandom()
        var last = SessionID(high: 0, low: 0)
        // More in the first millisecond than it has room for.
        for step in 0..<100_000 {
            let now = step < 70_000 ? Self.now : Self.now + Int64(step % 7) * 1_000 - 3_600_000
            let id = source.next(at: now, random: random)
            #expect(id > last && id.high > last.high)
            last = id
        }
        let later = source.next(at: Self.now + 86_400_000, random: random)
        #expect(later > last && later.high >> 16 == UInt64(Self.now + 86_400_000))
    }

    @Test("no two are alike when many are made at once")
    func unique() async {
        let source = SessionIDSource()
        let halves = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 {
                group.addTask {
                    let random = SystemRandom()
                    return (0..<20_000).map { _ in source.next(at: Self.now, random: random).high }
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(halves).count == 160_000)
    }

    @Test("sessions that are made one after the other have ids in that order")
    func sessions() async throws {
        let fixture = try SessionsFixture()
        var ids: [SessionID] = []
        for step in 0..<200 {
            ids.append(try await fixture.session().id)
            if step % 3 == 0 { fixture.clock.advance(1) }
        }
        #expect(ids == ids.sorted())
        let now = UInt64(fixture.clock.now())
        #expect(ids.allSatisfy { now - 67 <= $0.high >> 16 && $0.high >> 16 <= now + 1 })
    }
}
