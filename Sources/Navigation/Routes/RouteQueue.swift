/// The places that a search has not visited yet, nearest first; of equally near ones, the one that was found first.
struct RouteQueue {
    /// How far a place is, compared by the first number, then the second, and so on.
    struct Distance: Comparable {
        /// Hops with an obstacle.
        var blocked = 0
        /// Screens that are not answered yet, and the obstacles behind the first of them.
        var open = 0
        /// Events other than `back`.
        var events = 0
        var hops = 0

        static func < (one: Distance, other: Distance) -> Bool {
            (one.blocked, one.open, one.events, one.hops) < (other.blocked, other.open, other.events, other.hops)
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
