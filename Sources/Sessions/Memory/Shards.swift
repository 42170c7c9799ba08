import Synchronization

/// Contents in several parts, each with a lock of its own, so that threads rarely meet.
///
/// All parts are in one block of memory, each on cache lines of its own. Finding a part reads no object and counts no
/// reference.
///
/// `@unchecked Sendable`: the memory holds locks with what they guard, and is neither moved nor freed while this
/// exists.
struct Shards<Content>: ~Copyable, @unchecked Sendable {
    let count: Int
    private let memory: UnsafeMutableRawPointer

    /// 64 bytes: a cache line.
    private static var lineBytes: Int { 64 }

    private static var shardBytes: Int {
        (MemoryLayout<Mutex<Content>>.size + lineBytes - 1) / lineBytes * lineBytes
    }

    /// - Parameter content: the first content of each part.
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

    /// Calls the function with the content at the place, under its lock. The function must not wait.
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
