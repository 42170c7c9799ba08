import Synchronization

/// The recent commits of a session that is watched, and its watchers.
///
/// Commits arrive in the order of their revisions. They wait here, once for all watchers, and each watcher has a place
/// among them. So a watcher takes the same memory however slow it is: it is lost when commits are dropped that it has
/// not taken.
final class SessionWatch: Sendable {
    private struct State {
        /// The last commits, the oldest first.
        var history: [WatchedCommit] = []
        /// How many commits were dropped from ``history``.
        var dropped = 0
        /// How many changes ``history`` has.
        var changeCount = 0
        /// All commits after this revision are in ``history`` or will come.
        var beginning: UInt64
        /// The revision of the last commit.
        var revision: UInt64
        /// The last use of the session that watchers were told of.
        var toldUse: Int64
        var watchers = WatchersByAddress()
        var end: WatchEnd?
        /// When the last watcher left.
        var idleSince: Int64
        /// Whether a task wakes the watchers, and whether there is something new since it last did.
        var isWaking = false
        var isStale = false

        mutating func append(_ commit: WatchedCommit) {
            history.append(commit)
            changeCount += commit.changes.count
            while changeCount > mostChanges, history.count > 1 {
                let oldest = history.removeFirst()
                changeCount -= oldest.changes.count
                dropped += 1
                beginning = oldest.revision
            }
        }
    }

    let session: SessionID
    private let state: Mutex<State>

    /// The most changes that are kept. A client that reads at all is faster than this; one that reconnects within
    /// seconds rarely misses more.
    private static let mostChanges = 512
    /// More watchers are woken on another thread, because the thread that commits has other work, and not more often
    /// than each ``pause``: a client that writes without a pause does not make many others as busy.
    private static let mostWokenAtOnce = 4
    private static let pause = Duration.milliseconds(25)

    init(_ session: SessionID, revision: UInt64, lastUsedAt: Int64) {
        self.session = session
        state = Mutex(
            State(beginning: revision, revision: revision, toldUse: lastUsedAt, idleSince: .max))
    }

    var watcherCount: Int { state.withLock(\.watchers.count) }

    /// Who makes room for a new watcher.
    var oldestOfMost: SessionWatcher? { state.withLock(\.watchers.oldestOfMost) }

    /// Adds a watcher.
    ///
    /// - Parameters:
    ///   - point: the revision after which it wants commits; `nil` for the current one.
    ///   - current: the session's revision. Commits up to it may still be on their way here.
    ///   - make: makes the watcher, which gets its place in the history and the revision after which it wants commits.
    func add(
        after point: UInt64?, current: UInt64, _ make: (_ place: Int, _ point: UInt64) -> SessionWatcher
    ) throws(WatchError) -> SessionWatcher {
        try state.withLock { state throws(WatchError) in
            let point = point ?? current
            guard state.end == nil, point >= state.beginning, point <= current else { throw .resumePointGone }
            let skipped = state.history.prefix { $0.revision <= point }.count
            let watcher = make(state.dropped + skipped, point)
            state.watchers.add(watcher)
            state.idleSince = .max
            return watcher
        }
    }

    /// - Returns: whether it was there.
    func remove(_ watcher: SessionWatcher, now: Int64) -> Bool {
        state.withLock { state in
            guard state.watchers.remove(watcher) else { return false }
            if state.watchers.count == 0 { state.idleSince = now }
            return true
        }
    }

    /// Whether nobody has watched since that time.
    func isIdle(since time: Int64) -> Bool { state.withLock { $0.idleSince <= time } }

    /// Takes a commit.
    ///
    /// - Parameters:
    ///   - token: the session's token after it. Watchers with another token end here.
    ///   - end: why it is the last one; `nil` when it is not.
    func take(_ commit: WatchedCommit, token: TokenDigest, end: WatchEnd? = nil) {
        state.withLock { state in
            guard state.end == nil else { return }
            if !commit.changes.isEmpty { state.append(commit) }
            state.revision = commit.revision
            state.end = end
            for watcher in state.watchers.all where watcher.token.map({ $0 != token }) ?? false {
                watcher.end(at: state.dropped + state.history.count)
            }
        }
        wake()
    }

    /// Notes a use of the session, and tells watchers if they were not told of any for `interval`.
    func noteUse(at time: Int64, idleEnd: Int64, interval: Int64) {
        let isTold = state.withLock { state in
            guard state.end == nil, time - state.toldUse >= interval, time > state.toldUse else { return false }
            state.toldUse = time
            return true
        }
        if isTold { note([.extended(idleExpiresAt: idleEnd)]) }
    }

    /// Tells watchers what no commit of the session has changed.
    func note(_ changes: [SessionChange]) {
        let isTold = state.withLock { state in
            guard state.end == nil, state.watchers.count > 0 else { return false }
            state.append(WatchedCommit(revision: state.revision, changes: changes, isLater: true))
            return true
        }
        if isTold { wake() }
    }

    /// Ends all watchers, after the commits that have arrived.
    func close(_ end: WatchEnd) {
        state.withLock { state in
            if state.end == nil { state.end = end }
        }
        wake()
    }

    /// What a watcher gets at a place, which moves on; `nil` when there is nothing yet.
    func next(at place: inout Int, for watcher: SessionWatcher) -> SessionWatcher.Event? {
        state.withLock { state in
            let end = min(watcher.end, state.dropped + state.history.count)
            let begin = place
            place = end
            guard begin >= state.dropped || end == watcher.end else { return .lost }
            let new = state.history[max(0, begin - state.dropped)..<max(0, end - state.dropped)]
                .filter { $0.revision > watcher.begin || $0.isLater }
            if !new.isEmpty { return .commits(Array(new)) }
            return end == watcher.end ? .ended(.tokenReplaced) : state.end.map { .ended($0) }
        }
    }

    /// Lets watchers take what has arrived.
    private func wake() {
        let watchers = state.withLock { state -> [SessionWatcher]? in
            state.isStale = true
            if state.isWaking { return [] }
            state.isWaking = state.watchers.count > Self.mostWokenAtOnce
            return state.isWaking ? nil : state.watchers.all
        }
        if let watchers {
            for watcher in watchers { watcher.wake() }
        } else {
            Task { await wakeMany() }
        }
    }

    private func wakeMany() async {
        while true {
            let watchers = state.withLock { state -> [SessionWatcher]? in
                state.isWaking = state.isStale
                state.isStale = false
                return state.isWaking ? state.watchers.all : nil
            }
            guard let watchers else { return }
            for watcher in watchers { watcher.wake() }
            try? await Task.sleep(for: Self.pause)
        }
    }

    /// Lets watchers look at the time.
    ///
    /// - Returns: whether there are any.
    func tick(now: Int64) -> Bool {
        let (due, isWatched) = state.withLock { state in
            (state.watchers.all.filter { $0.isDue(now: now) }, state.watchers.count > 0)
        }
        for watcher in due { watcher.tick(now: now) }
        return isWatched
    }
}
