import Synchronization

/// A client that watches a session: a stream of its changes, or one request that waits for the next change.
///
/// It keeps the session in memory. Call ``leave()`` when the client has gone.
package final class SessionWatcher: Sendable {
    package enum Event: Sendable {
        /// Never empty.
        case commits([WatchedCommit])
        /// Nothing has happened for ``heartbeat``.
        case nothing
        /// It was too slow: commits that it has not taken were dropped.
        case lost
        /// Nothing will follow.
        case ended(WatchEnd)
    }

    package typealias Handler = @Sendable (Event) -> Void

    private struct State {
        /// The place of the next commit in the history of the session.
        var place: Int
        var waiting: Handler?
        var isGone = false
        var isDisplaced = false
        /// What it gets before what is in the history.
        var missed: WatchedCommit?
    }

    private let session: Session
    let watch: SessionWatch
    /// The same number for all clients at one address.
    let address: UInt64
    /// The client knows the session as it was at this revision.
    package let point: UInt64
    /// Commits up to this revision in the history are not for it.
    let begin: UInt64
    /// When its token ends; `nil` while the token is the session's current one.
    private let endsAt: Int64?
    /// `nil` for a watcher that does not depend on a token.
    let token: TokenDigest?
    /// The place in the history at which it ends, because its token was replaced. Changed under the watch's lock.
    private let limit = Atomic<Int>(.max)
    private let state: Mutex<State>
    private let beatsAt = Atomic<Int64>(.max)

    /// The longest silence, in milliseconds.
    package static let heartbeat: Int64 = 15_000

    init(
        of session: Session, _ watch: SessionWatch, at place: Int, after point: UInt64, _ missed: WatchedCommit?,
        token: TokenDigest?, endsAt: Int64?, address: UInt64
    ) {
        self.session = session
        self.watch = watch
        self.address = address
        self.point = point
        begin = missed?.revision ?? point
        self.token = token
        self.endsAt = endsAt
        state = Mutex(State(place: place, missed: missed?.changes.isEmpty == false ? missed : nil))
    }

    /// The place at which it ends. Called by the watch, under its lock.
    var end: Int { limit.load(ordering: .relaxed) }

    /// Its token was replaced: it gets nothing from that place on. Called by the watch, under its lock.
    func end(at place: Int) {
        if endsAt == nil { limit.min(place, ordering: .relaxed) }
    }

    /// Whether its token has ended.
    package var isOver: Bool {
        limit.load(ordering: .relaxed) != .max || endsAt.map { session.environment.clock.now() >= $0 } ?? false
    }

    /// Asks for the next event. Call it again only after `handler` was called.
    ///
    /// - Parameters:
    ///   - hasSent: whether the client was sent something since the last call. If not, its silence goes on.
    ///   - handler: called once, before this returns or later on any thread, where it must take no time; never after
    ///     ``leave()``.
    package func next(hasSent: Bool = true, _ handler: @escaping Handler) {
        let now = session.environment.clock.now()
        state.withLock { state in
            guard !state.isGone else { return }
            state.waiting = handler
            if hasSent { beatsAt.store(now + Self.heartbeat, ordering: .relaxed) }
        }
        wake()
    }

    /// Hands over what has arrived, if anything has and the client waits.
    func wake() {
        let (handler, event) = state.withLock { state -> (Handler?, Event) in
            guard state.waiting != nil else { return (nil, .nothing) }
            let event: Event? =
                state.isDisplaced
                ? .ended(.displaced)
                : state.missed.take().map { .commits([$0]) } ?? watch.next(at: &state.place, for: self)
            return event.map { (state.waiting.take(), $0) } ?? (nil, .nothing)
        }
        handler?(event)
    }

    /// Whether it is time to ``tick(now:)``.
    func isDue(now: Int64) -> Bool {
        beatsAt.load(ordering: .relaxed) <= now || endsAt.map { now >= $0 } ?? false
    }

    /// Tells the client that nothing has happened, or that its token has ended.
    func tick(now: Int64) {
        let isOver = endsAt.map { now >= $0 } ?? false
        state.withLock { $0.waiting.take() }?(isOver ? .ended(.tokenReplaced) : .nothing)
    }

    /// Waits for the next event, at most until `deadline`, or until the task is cancelled.
    package func next(until deadline: Int64) async -> Event {
        let clock = session.environment.clock
        let timer = Task { [weak self] in
            // A timer that was cancelled must not end the next wait.
            guard (try? await clock.sleep(milliseconds: max(0, deadline - clock.now()))) != nil else { return }
            self?.giveUp()
        }
        defer { timer.cancel() }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                next { continuation.resume(returning: $0) }
                // The timer may have run out before there was anyone to tell.
                if Task.isCancelled || clock.now() >= deadline { giveUp() }
            }
        } onCancel: {
            giveUp()
        }
    }

    /// It made room for a newer watcher.
    func displace() {
        state.withLock { $0.isDisplaced = true }
        wake()
    }

    private func giveUp() { state.withLock { $0.waiting.take() }?(.nothing) }

    /// The client has gone.
    package func leave() {
        // Freed outside the lock.
        let handler = state.withLock { state in
            state.isGone = true
            return state.waiting.take()
        }
        withExtendedLifetime(handler) {}
        session.environment.watches.leave(self)
    }
}
