import Synchronization

/// Counters, once for each worker of a listener, so that two of them hardly ever write to one line of the cache. Listeners
/// have different counters: the first worker of the one is not the first of the other.
///
/// `@unchecked Sendable`: the memory is of atomics, and neither moves nor goes while this exists.
final class CounterShards: @unchecked Sendable {
    private let cells: UnsafeMutablePointer<Atomic<UInt64>>
    private let shards: Int
    private let shardSize: Int

    /// 64 bytes: what a processor moves at once.
    private static let cellsPerLine = 8

    init(count: Int, shards: Int) {
        self.shards = max(1, shards)
        shardSize = (count + Self.cellsPerLine - 1) / Self.cellsPerLine * Self.cellsPerLine
        let total = self.shards * shardSize
        cells = UnsafeMutableRawPointer.allocate(byteCount: total * 8, alignment: 64)
            .bindMemory(to: Atomic<UInt64>.self, capacity: total)
        for cell in 0..<total { (cells + cell).initialize(to: Atomic(0)) }
    }

    deinit { UnsafeMutableRawPointer(cells).deallocate() }

    /// - Parameter worker: from 0, and below the number of shards.
    func shard(of worker: Int) -> Int {
        precondition(worker >= 0 && worker < shards, "there is no worker \(worker)")
        return worker * shardSize
    }

    /// Adds to a counter. One thread alone adds to it, the worker's: so nothing is lost between the load and the store,
    /// and these take a fifth of what an addition does that keeps others out.
    /// - Parameter shard: from `shard(of:)`.
    func add(_ amount: UInt64, to counter: Int, of shard: Int) {
        precondition(counter >= 0 && counter < shardSize, "there is no such counter")
        let cell = cells + shard + counter
        cell.pointee.store(cell.pointee.load(ordering: .relaxed) &+ amount, ordering: .relaxed)
    }

    func sum(of counter: Int) -> UInt64 {
        var sum: UInt64 = 0
        for shard in 0..<shards {
            sum &+= (cells + shard * shardSize + counter).pointee.load(ordering: .relaxed)
        }
        return sum
    }
}
