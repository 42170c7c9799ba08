import Synchronization

/// Contents spread over parts, each behind a lock of its own, so that threads seldom meet.
///
/// All of them lie in one block, each on lines of the processor's cache that no other has: to find one takes no look at
/// an object, and counts no reference.
///
/// `@unchecked Sendable`: the memory is of locks with what they guard, and neither moves nor goes while this exists.
struct Shards<Content>: ~Copyable, @unchecked Sendable {
    let count: Int
    private let memory: UnsafeMutableRawPointer

    /// 64 bytes: what a processor moves at once.
    private static var lineBytes: Int { 64 }

    private static var shardBytes: Int {
        (MemoryLayout<Mutex<Content>>.size + lineBytes - 1) / lineBytes * lineBytes
    }

    /// - Parameter content: of each of them at first.
    init(count: Int, content: () -> sending Content) {
        self.count = count
        memory = .allocate(byteCount: count * Self.shardBytes, alignment: Self.lineBytes)
        for place in 0..<count {
            (memory + place * Self.shardBytes).bindMemory(to: Mutex<Content>.self, capacity: 1)
                .initialize(to: Mutex(content()))
        }
    }

    deinit {
        for place in 0..<count { shard(place).deinitialize(count: 1) }
        memory.deallocate()
    }

    /// Looks at the content at that place, or changes it. Nothing may be waited for under the lock.
    func withLock<Result, Failure: Error>(
        _ place: Int, _ body: (inout sending Content) throws(Failure) -> sending Result
    ) throws(Failure) -> sending Result {
        precondition(place >= 0 && place < count, "there is no shard \(place)")
        return try shard(place).pointee.withLock(body)
    }

    private func shard(_ place: Int) -> UnsafeMutablePointer<Mutex<Content>> {
        (memory + place * Self.shardBytes).assumingMemoryBound(to: Mutex<Content>.self)
    }
}
