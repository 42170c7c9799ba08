import Testing

@testable import HTTPServer

@Suite("Buckets of tokens")
struct TokenBucketTests {
    private static let second: UInt64 = 1_000_000_000

    @Test("hold as many tokens as they say, and get one back in its time")
    func oneBucket() {
        let buckets = TokenBuckets(Quota(count: 4, window: .seconds(2)))
        let now = 5 * Self.second
        #expect((0..<4).map { _ in buckets.take(7, now: now).remaining } == [3, 2, 1, 0])
        let refused = buckets.take(7, now: now)
        #expect(!refused.isTaken && refused.remaining == 0 && refused.isLow)
        #expect(refused.wait == Self.second / 2 && refused.untilFull == 2 * Self.second)
        #expect(!buckets.take(7, now: now + Self.second / 2 - 1).isTaken)
        #expect(buckets.look(7, now: now + Self.second / 2).wait == 0)
        #expect(buckets.take(7, now: now + Self.second / 2).isTaken)
        #expect(!buckets.take(7, now: now + Self.second / 2).isTaken)
        #expect(buckets.look(7, now: now + 10 * Self.second).remaining == 4)
        // Time that stands back a little, since workers read it at different moments, gives no token away.
        #expect(!buckets.take(7, now: now).isTaken)
        #expect(buckets.take(8, now: now).isTaken)
    }

    @Test("do not run over in any count and any window", arguments: [(1, 1), (1_000_000_000, 1), (3, 86_400), (7, 1)])
    func extremes(_ count: Int, _ seconds: Int) {
        let buckets = TokenBuckets(Quota(count: count, window: .seconds(seconds)))
        #expect(buckets.take(1, now: 0).remaining == count - 1)
        #expect(buckets.take(2, now: .max / 2).remaining == count - 1)
        #expect(buckets.look(1, now: .max / 2).remaining == count)
    }

    @Test("a client without tokens stays so while two hundred thousand others come once each")
    func attack() {
        let buckets = TokenBuckets(Quota(count: 10, window: .seconds(60)))
        let now = 100 * Self.second
        let busy: [UInt64] = Array(0..<100)
        for key in busy { while buckets.take(key, now: now).isTaken {} }
        for key in 1_000..<201_000 as Range<UInt64> { _ = buckets.take(key, now: now) }
        #expect(busy.count { buckets.take($0, now: now).isTaken } == 0)
    }

    @Test("give out no more tokens than there are, however many ask at once")
    func threads() async {
        let buckets = TokenBuckets(Quota(count: 1_000, window: .seconds(60)))
        for key in 0..<2_000 as Range<UInt64> {
            let taken = await withTaskGroup(of: Int.self) { group in
                for _ in 0..<4 {
                    group.addTask { (0..<400).count { _ in buckets.take(key, now: 1).isTaken } }
                }
                return await group.reduce(0, +)
            }
            // Each may have found no place at first.
            #expect((1_000...1_004).contains(taken))
        }
    }
}
