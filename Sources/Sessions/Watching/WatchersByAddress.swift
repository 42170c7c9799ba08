/// The watchers of each address, the oldest first.
struct WatchersByAddress {
    private var watchers: [UInt64: [(number: Int, watcher: SessionWatcher)]] = [:]
    private(set) var count = 0
    private var next = 0

    mutating func add(_ watcher: SessionWatcher) {
        watchers[watcher.address, default: []].append((next, watcher))
        next += 1
        count += 1
    }

    /// - Returns: whether it was there.
    mutating func remove(_ watcher: SessionWatcher) -> Bool {
        guard let place = watchers[watcher.address]?.firstIndex(where: { $0.watcher === watcher }) else { return false }
        watchers[watcher.address]?.remove(at: place)
        if watchers[watcher.address]?.isEmpty == true { watchers[watcher.address] = nil }
        count -= 1
        return true
    }

    var all: [SessionWatcher] { watchers.values.flatMap { $0.map(\.watcher) } }

    func count(of address: UInt64) -> Int { watchers[address]?.count ?? 0 }

    func oldest(of address: UInt64) -> SessionWatcher? { watchers[address]?.first?.watcher }

    /// The oldest watcher of the address that has most; of addresses with as many, the oldest.
    var oldestOfMost: SessionWatcher? {
        watchers.values.max { ($0.count, -$0[0].number) < ($1.count, -$1[0].number) }?.first?.watcher
    }
}
