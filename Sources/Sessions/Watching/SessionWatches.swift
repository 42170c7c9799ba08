import Synchronization

/// The sessions that are watched.
///
/// A session knows whether it is among them (``Session/State/isWatched``), so the commits of all others do not look
/// here.
final class SessionWatches: Sendable {
    private struct State {
        /// In parts, because time is looked at for one part after the other: many watchers at once would keep requests
        /// waiting for milliseconds.
        var parts = [[SessionID: SessionWatch]](repeating: [:], count: SessionWatches.partCount)
        var watchers = WatchersByAddress()
        var isStopping = false

        subscript(id: SessionID) -> SessionWatch? {
            get { parts[Self.part(of: id)][id] }
            set { parts[Self.part(of: id)][id] = newValue }
        }

        private static func part(of id: SessionID) -> Int { Int(id.low % UInt64(partCount)) }
    }

    static let partCount = 128

    private let state = Mutex(State())
    private let clock: any SessionClock
    private let limits: WatcherLimits

    /// How long the history of a session is kept when nobody watches it any more: longer than a client needs to
    /// reconnect. In milliseconds.
    static let retention: Int64 = 120_000

    init(clock: any SessionClock, limits: WatcherLimits) {
        self.clock = clock
        self.limits = limits
    }

    /// Watchers of all sessions.
    var count: Int { state.withLock(\.watchers.count) }

    subscript(id: SessionID) -> SessionWatch? { state.withLock { $0[id] } }

    /// Adds a watcher. Called under the session's lock.
    ///
    /// - Parameters:
    ///   - session: its state.
    ///   - make: makes the watcher.
    /// - Returns: the watcher, and those that made room for it, which are to be told.
    func add(
        to session: borrowing Session.State, after point: UInt64?,
        _ make: (SessionWatch, _ place: Int, _ point: UInt64) -> SessionWatcher
    ) throws(WatchError) -> (watcher: SessionWatcher, displaced: [SessionWatcher]) {
        let record = session.record
        let (isWatched, lastUsedAt) = (session.isWatched, session.lastUsedAt)
        return try state.withLock { state throws(WatchError) in
            guard !state.isStopping else { throw .stopping }
            // A watch that the session does not know of has missed commits; one idle for long is about to be dropped.
            let oldest = clock.now() - Self.retention
            let known = isWatched ? state[record.id].flatMap { $0.isIdle(since: oldest) ? nil : $0 } : nil
            let watch = known ?? SessionWatch(record.id, revision: record.revision, lastUsedAt: lastUsedAt)
            let watcher = try watch.add(after: point, current: record.revision) { make(watch, $0, $1) }
            state[record.id] = watch
            state.watchers.add(watcher)
            var displaced: [SessionWatcher] = []
            func displace(_ one: SessionWatcher?) {
                guard let one, one.watch.remove(one, now: clock.now()) else { return }
                _ = state.watchers.remove(one)
                displaced.append(one)
            }
            if watch.watcherCount > limits.ofSession { displace(watch.oldestOfMost) }
            if state.watchers.count(of: watcher.address) > limits.ofAddress {
                displace(state.watchers.oldest(of: watcher.address))
            }
            if state.watchers.count > limits.all { displace(state.watchers.oldestOfMost) }
            return (watcher, displaced)
        }
    }

    func leave(_ watcher: SessionWatcher) {
        guard watcher.watch.remove(watcher, now: clock.now()) else { return }
        _ = state.withLock { $0.watchers.remove(watcher) }
    }

    /// Tells the watchers of all sessions what no commit of theirs has changed.
    func tellAll(_ changes: [SessionChange]) {
        for part in 0..<Self.partCount {
            for watch in state.withLock({ Array($0.parts[part].values) }) where watch.session != SessionID.process {
                watch.note(changes)
            }
        }
    }

    /// Takes the watch of a session away: the next watcher begins a new one.
    func forget(_ id: SessionID) -> SessionWatch? {
        state.withLock { state in
            defer { state[id] = nil }
            return state[id]
        }
    }

    /// The watches of a part that nobody has used for ``retention``.
    func idle(in part: Int, now: Int64) -> [SessionWatch] {
        state.withLock { state in state.parts[part].values.filter { $0.isIdle(since: now - Self.retention) } }
    }

    /// Drops the watch if it is still idle. Called under the session's lock, if the session is in memory.
    func drop(_ watch: SessionWatch, now: Int64) -> Bool {
        state.withLock { state in
            guard state[watch.session] === watch, watch.isIdle(since: now - Self.retention) else { return false }
            state[watch.session] = nil
            return true
        }
    }

    /// - Returns: the sessions of a part that have watchers.
    func tick(_ part: Int, now: Int64) -> [SessionID] {
        state.withLock { Array($0.parts[part].values) }.filter { $0.tick(now: now) }.map(\.session)
    }

    /// Ends all watchers, and accepts no more.
    func stop() {
        let watches = state.withLock { state in
            state.isStopping = true
            return state.parts.flatMap(\.values)
        }
        for watch in watches { watch.close(.stopping) }
    }
}

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
