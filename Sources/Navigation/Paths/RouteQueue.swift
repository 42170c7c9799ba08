/// The places that a search has still to look at, the nearest first, of equally near ones the first that came.
struct RouteQueue {
    /// How far a place is: less of the first counts more than anything of the next.
    struct Distance: Comparable {
        /// Hops that are not possible now.
        var blocked = 0
        /// Events other than `back`.
        var events = 0
        var hops = 0

        static func < (one: Distance, other: Distance) -> Bool {
            (one.blocked, one.events, one.hops) < (other.blocked, other.events, other.hops)
        }
    }

    private struct Entry {
        let distance: Distance
        let item: Int

        func isBefore(_ other: Entry) -> Bool {
            distance == other.distance ? item < other.item : distance < other.distance
        }
    }

    /// A binary heap.
    private var entries: [Entry] = []

    mutating func insert(_ item: Int, at distance: Distance) {
        entries.append(Entry(distance: distance, item: item))
        var place = entries.count - 1
        while place > 0, entries[place].isBefore(entries[(place - 1) / 2]) {
            entries.swapAt(place, (place - 1) / 2)
            place = (place - 1) / 2
        }
    }

    mutating func removeNearest() -> Int? {
        guard let nearest = entries.first, let last = entries.popLast() else { return nil }
        guard !entries.isEmpty else { return nearest.item }
        entries[0] = last
        var place = 0
        while true {
            var least = place
            for child in [2 * place + 1, 2 * place + 2] where child < entries.count {
                if entries[child].isBefore(entries[least]) { least = child }
            }
            guard least != place else { return nearest.item }
            entries.swapAt(place, least)
            place = least
        }
    }
}
