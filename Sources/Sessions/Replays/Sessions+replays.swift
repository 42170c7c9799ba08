extension Sessions {
    /// What was kept of a request that names no session.
    package func loneReplay(_ id: ShortDigest) async throws(SessionError) -> LoneReplay? {
        do {
            return try await environment.store.replays.loneReplay(id, now: environment.clock.now())
        } catch {
            throw SessionError(error)
        }
    }

    /// Keeps the response to a request that names no session.
    ///
    /// - Returns: what a copy of the request has left before.
    package func keep(_ replay: LoneReplay, atMost limit: Int) async throws(SessionError) -> LoneReplay? {
        do {
            return try await environment.store.replays.keep(replay, now: environment.clock.now(), atMost: limit)
        } catch {
            throw SessionError(error)
        }
    }
}
