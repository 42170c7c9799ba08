import Glibc
import Synchronization

/// So many of something in a time: a bucket that holds ``count`` tokens and is filled anew in ``window``.
///
/// A client may spend all of them at once; then it gets one each `window / count`.
public struct Quota: Sendable, Equatable {
    /// At least 1.
    public let count: Int
    /// At least a millisecond.
    public let window: Duration

    /// A quota of `count` in each `window`.
    public init(count: Int, window: Duration) {
        self.count = count
        self.window = window
    }
}

/// A bucket of tokens for each key, in memory that does not grow.
///
/// A bucket is one number: the time at which it will be full again. Taking a token moves that time by the time that one
/// token takes to come back; a bucket whose time would be further away than the whole window is empty. So nothing has
/// to be filled, and a bucket whose time has passed need not be remembered.
///
/// A key has four places, which share a cache line. When all four are taken by others, the fullest bucket is forgotten,
/// and its client begins with a full one. An attack from many addresses takes few tokens from each, so it displaces its
/// own buckets first. Which keys share places depends on random numbers of the process.
///
/// Workers take tokens without a lock: a reading of one cache line and one exchange. A worker that looks for a place
/// while others change these may give out one token too many.
///
/// `@unchecked Sendable`: the memory holds atomics and is neither moved nor freed while this exists.
package final class TokenBuckets: @unchecked Sendable {
    /// What is in a bucket, and whether a token was taken out of it. The numbers are computed when they are asked for,
    /// since most requests ask for none.
    package struct Reading: Sendable {
        package let isTaken: Bool
        /// Until the bucket is full, in nanoseconds.
        package let untilFull: UInt64
        private let window, step: UInt64
        private let count: Int

        fileprivate init(_ buckets: TokenBuckets, untilFull: UInt64, isTaken: Bool) {
            self.isTaken = isTaken
            self.untilFull = untilFull
            (window, step, count) = (buckets.window, buckets.step, buckets.quota.count)
        }

        private var left: UInt64 { window > untilFull ? window - untilFull : 0 }
        package var remaining: Int { min(Int(left / step), count) }
        /// Until one token is there, in nanoseconds; 0 when one is.
        package var wait: UInt64 { left >= step ? 0 : step - left }
        /// Whether less than half is left.
        package var isLow: Bool { untilFull > window / 2 }
    }

    package let quota: Quota
    private let window, step: UInt64
    private let places: UnsafeMutablePointer<Atomic<UInt64>>
    private let seeds: (UInt64, UInt64)

    /// 65,536 buckets in cache lines of four, one mebibyte.
    private static let setBits = 14
    private static let ways = 4
    private static let bytes = 64 << setBits

    package init(_ quota: Quota) {
        self.quota = quota
        window = UInt64(quota.window.milliseconds32) * 1_000_000
        step = max(1, window / UInt64(quota.count))
        // Pages of zeros, which need no memory until they are written. An allocator may write them at once.
        let memory = mmap(nil, Self.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { preconditionFailure("no memory for buckets") }
        places = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.bytes / 8)
        var generator = SystemRandomNumberGenerator()
        seeds = (generator.next(), generator.next())
    }

    deinit { munmap(places, Self.bytes) }

    /// Takes tokens out of the bucket of a key, if there are so many.
    /// - Parameters:
    ///   - count: how many; 1 for most requests.
    ///   - now: nanoseconds of a monotonic clock.
    package func take(_ key: UInt64, _ count: Int = 1, now: UInt64) -> Reading {
        let time = bucket(of: key, now: now)
        var old = time.pointee.load(ordering: .relaxed)
        while true {
            let full = max(old, now) + step * UInt64(count)
            guard full - now <= window else { return reading(of: old, now, isTaken: false) }
            let exchange = time.pointee.compareExchange(expected: old, desired: full, ordering: .relaxed)
            if exchange.exchanged { return reading(of: full, now, isTaken: true) }
            old = exchange.original
        }
    }

    /// The state of the bucket of a key.
    package func look(_ key: UInt64, now: UInt64) -> Reading {
        reading(of: bucket(of: key, now: now).pointee.load(ordering: .relaxed), now, isTaken: false)
    }

    private func reading(of full: UInt64, _ now: UInt64, isTaken: Bool) -> Reading {
        Reading(self, untilFull: full > now ? full - now : 0, isTaken: isTaken)
    }

    /// The time of the bucket of a key, which may have to take the place of another one.
    private func bucket(of key: UInt64, now: UInt64) -> UnsafeMutablePointer<Atomic<UInt64>> {
        // A product whose halves are mixed: each bit depends on all bits of the key and of the seeds.
        let (high, low) = (key ^ seeds.0).multipliedFullWidth(by: seeds.1 | 1)
        // 0 is the mark of a free place.
        let mark = (high ^ low) | 1
        let first = places + Int(mark >> UInt64(64 - Self.setBits)) * Self.ways * 2
        while true {
            var (fullest, owner, fullAt) = (first, UInt64(0), UInt64(0))
            for way in 0..<Self.ways {
                let place = first + 2 * way
                let other = place.pointee.load(ordering: .relaxed)
                if other == mark { return place + 1 }
                let time = (place + 1).pointee.load(ordering: .relaxed)
                if way == 0 || time < fullAt { (fullest, owner, fullAt) = (place, other, time) }
            }
            // Another worker may have taken the place.
            guard fullest.pointee.compareExchange(expected: owner, desired: mark, ordering: .relaxed).exchanged else {
                continue
            }
            // Another worker may have taken tokens of the same client since.
            _ = (fullest + 1).pointee.compareExchange(expected: fullAt, desired: now, ordering: .relaxed)
            return fullest + 1
        }
    }
}
