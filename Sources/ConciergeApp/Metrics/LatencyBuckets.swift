/// The bounds of the histograms: 50 µs to 10 s in steps of 1, 2.5 and 5.
enum LatencyBuckets {
    /// Inclusive upper bounds in nanoseconds; above the last one is a bucket without a bound.
    static let bounds: [UInt64] = [
        50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000, 5_000_000, 10_000_000, 25_000_000, 50_000_000,
        100_000_000, 250_000_000, 500_000_000, 1_000_000_000, 2_500_000_000, 5_000_000_000, 10_000_000_000,
    ]

    static var count: Int { 18 }

    /// The same bounds as code, which is quicker to get at than a global array.
    static func index(of nanoseconds: UInt64) -> Int {
        switch nanoseconds {
        case ...50_000: 0
        case ...100_000: 1
        case ...250_000: 2
        case ...500_000: 3
        case ...1_000_000: 4
        case ...2_500_000: 5
        case ...5_000_000: 6
        case ...10_000_000: 7
        case ...25_000_000: 8
        case ...50_000_000: 9
        case ...100_000_000: 10
        case ...250_000_000: 11
        case ...500_000_000: 12
        case ...1_000_000_000: 13
        case ...2_500_000_000: 14
        case ...5_000_000_000: 15
        case ...10_000_000_000: 16
        default: 17
        }
    }
}
