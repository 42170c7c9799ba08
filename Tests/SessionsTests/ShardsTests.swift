import Synchronization
import Testing

@testable import Sessions

@Suite("Shards")
struct ShardsTests {
    @Test("each place has its own content, which stays where it is")
    func places() {
        var next = 0
        let shards = Shards(count: 5) {
            next += 1
            return [next]
        }
        for place in 0..<5 { shards.withLock(place) { $0.append(place * 10) } }
        #expect((0..<5).map { shards.withLock($0) { $0 } } == [[1, 0], [2, 10], [3, 20], [4, 30], [5, 40]])
    }

    @Test("nothing is lost when many threads change one place, and what is thrown comes out")
    func threads() async {
        let shards = Counts()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<4 {
                group.addTask {
                    for step in 0..<20_000 { shards.content.withLock(step % 2) { $0 += 1 } }
                }
            }
        }
        #expect((0..<2).map { place in shards.content.withLock(place) { $0 } } == [40_000, 40_000])
        #expect(throws: CancellationError.self) {
            try shards.content.withLock(1) { _ in throw CancellationError() }
        }
        #expect(shards.content.withLock(1) { $0 } == 40_000)
    }

    @Test("what they hold goes with them")
    func end() {
        weak var held: Held?
        do {
            let shards = Shards(count: 3) { [Held]() }
            let mine = Held()
            held = mine
            shards.withLock(2) { $0.append(mine) }
        }
        #expect(held == nil)
    }

    private final class Counts: Sendable {
        let content = Shards(count: 2) { 0 }
    }

    private final class Held: Sendable {}
}
