/// What a store that keeps its sessions in a file is doing, and has done since the process started.
package struct StoreFigures: Sendable {
    /// Writes that wait for the writer.
    package var queue = 0
    /// Writes that were committed. Those that wait together share a transaction.
    package var writes = 0
    /// How long transactions took, each with its sync.
    package var commits = DurationCounts()
    /// The length of the log of writes that are not in the file yet.
    package var logBytes = 0
    package var fileBytes = 0
    /// What of the file holds nothing.
    package var freeBytes = 0
    /// Whether only what makes room is written.
    package var isDiskFull = false
    /// The file system of the file; nil when it does not tell.
    package var disk: (bytes: Int, free: Int)?

    package init() {}
}

/// How many durations were how long.
package struct DurationCounts: Sendable {
    /// Inclusive upper bounds in nanoseconds: 100 µs to 10 s in steps of 1, 2.5 and 5.
    package static let bounds: [UInt64] = [
        100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000, 100_000_000,
        250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    /// One for each bound, and one for what is longer.
    package private(set) var counts = [UInt64](repeating: 0, count: bounds.count + 1)
    /// Of all, in nanoseconds.
    package private(set) var sum: UInt64 = 0

    package init() {}

    package mutating func add(nanoseconds: UInt64) {
        counts[Self.bounds.firstIndex { nanoseconds <= $0 } ?? Self.bounds.count] += 1
        sum += nanoseconds
    }
}
