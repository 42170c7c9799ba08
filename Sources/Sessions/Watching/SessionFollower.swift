import Synchronization

/// Takes over what other processes commit to a session that is watched here: one look at a time, however often it is
/// told, and again when the store does not answer.
final class SessionFollower: Sendable {
    private struct State {
        var isLooking = false
        /// Whether it was told of a change since the last look began.
        var isTold = false
    }

    private struct Followed { weak var session: Session? }

    private let state = Mutex(State())
    private let followed: Mutex<Followed>
    private static let pause: Int64 = 500

    init(_ session: Session) { followed = Mutex(Followed(session: session)) }

    func look() {
        let begins = state.withLock { state in
            state.isTold = true
            defer { state.isLooking = true }
            return !state.isLooking
        }
        if begins { Task { await lookUntilDone() } }
    }

    private func lookUntilDone() async {
        while goesOn() {
            guard let clock = await lookOnce() else { continue }
            state.withLock { $0.isTold = true }
            // Without the session, which may end meanwhile, as may the server.
            try? await clock.sleep(milliseconds: Self.pause)
        }
    }

    /// - Returns: the clock to wait by before the next look; nil if the store has answered or nobody watches any more.
    private func lookOnce() async -> (any SessionClock)? {
        guard let session = followed.withLock(\.session), session.state.withLock(\.isWatched) else { return nil }
        do {
            _ = try await session.catchUp()
            return nil
        } catch {
            return error.isTemporary ? session.environment.clock : nil
        }
    }

    private func goesOn() -> Bool {
        state.withLock { state in
            defer { state.isTold = false }
            state.isLooking = state.isTold
            return state.isTold
        }
    }
}
