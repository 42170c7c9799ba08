import Glibc

/// Places in a file to be damaged: first far apart, in the end all of them, as far as time allows.
///
/// They come in rounds, each with places between those of earlier rounds. `make test` has one round; the long form
/// continues for a part of its time, or until no place is left.
struct Places {
    private let first: [Int]
    private let range: Range<Int>
    private let end: ContinuousClock.Instant
    private(set) var count = 0

    static let isLong = seconds != nil
    private static let seconds = getenv("TORTURE_SECONDS").flatMap { Int(String(cString: $0)) }
    /// The distance between two places of a round. A prime, so a round meets all places within a page, and all bits.
    private static let distance = 1_021

    /// - Parameter first: a first round that differs from the others.
    init(in range: Range<Int>, first: [Int]? = nil) {
        self.range = range
        self.first = first ?? Array(stride(from: range.lowerBound, to: range.upperBound, by: Self.distance))
        // There are five tests of damage.
        end = .now + .seconds(Self.seconds ?? 0) / 5
    }

    mutating func next() -> Int? {
        let further = count - first.count
        guard further < 0 || (Self.isLong && further < range.count && ContinuousClock.now < end) else { return nil }
        count += 1
        guard further >= 0 else { return first[count - 1] }
        let perRound = (range.count + Self.distance - 1) / Self.distance
        // Neighbouring places come in distant rounds.
        let offset = (further / perRound * 377 + 1) % Self.distance + further % perRound * Self.distance
        return range.lowerBound + min(offset, range.count - 1)
    }

    func report(_ what: String) {
        if Self.isLong { print("damage: \(what): \(count) places of \(range.count)") }
    }
}
