/// The bounds of the histograms: 50 µs to 10 s in steps of 1, 2.5 and 5.
enum LatencyBuckets {
    /// Inclusive upper bounds in nanoseconds; above the last one is a bucket without a bound.
    static let bounds: [UInt64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    static var count: Int { bounds.count + 1 }

    static func index(of nanoseconds: UInt64) -> Int {
        // Nearly all responses are in the first few.
        bounds.firstIndex { nanoseconds <= $0 } ?? bounds.count
    }
}
