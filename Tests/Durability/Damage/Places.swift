import Glibc

/// The places of a file's last bytes, from far apart to every single one, as far as time allows.
///
/// They come in rounds, each with places between those of the rounds before. In `make test` there is one round; the long
/// form goes on for a part of its time, or until there is none left.
struct Places {
    private let places: [Int]
    private let isLong: Bool
    private let end: ContinuousClock.Instant
    private(set) var count = 0

    /// From place to place in a round. A prime: so a round meets all places within a page, and all bits.
    private static let distance = 1_021

    init(in size: Int, tail: Int) {
        let seconds = getenv("TORTURE_SECONDS").flatMap { Int(String(cString: $0)) }
        isLong = seconds != nil
        // There are four tests of damage.
        end = .now + .seconds(seconds ?? 0) / 4
        let first = max(0, size - tail)
        places = (0..<Self.distance).flatMap { round in
            // Neighbours in far-away rounds.
            let offset = round * 377 % Self.distance
            return Array(stride(from: size - 1 - offset, through: first, by: -Self.distance))
        }
    }

    mutating func next() -> Int? {
        let isFirstRound = count * Self.distance < places.count
        guard count < places.count, isFirstRound || (isLong && ContinuousClock.now < end) else { return nil }
        defer { count += 1 }
        return places[count]
    }

    func report(_ what: String) {
        if isLong { print("damage: \(what): \(count) of \(places.count) places") }
    }
}
