extension MemoryStore: ReplayStore {
    package var replays: any ReplayStore { self }

    package func response(_ id: ShortDigest, of session: SessionID) async throws(StoreError) -> [UInt8]? {
        shelf.withLock { $0.response(id, of: session) }
    }

    package func create(
        _ session: StoredSession, once: OnceCreated,
        then done: @escaping @Sendable (Result<LoneReplay?, StoreError>) -> Void
    ) {
        let id = session.record.id
        if let other = shelf.withLock({ $0.keep(once.claim(of: id), now: once.now, atMost: once.mostLone) }) {
            return done(.success(other))
        }
        if let failure = add(session) {
            shelf.withLock { $0.take(once.replay.entry.id) }
            return done(.failure(failure))
        }
        shelf.withLock { $0.apply(ReplayChange(added: once.replay), of: id) }
        done(.success(nil))
    }

    package func loneReplay(_ id: ShortDigest, now: Int64) async throws(StoreError) -> LoneReplay? {
        shelf.withLock { $0.loneReplay(id, now: now) }
    }

    package func keep(
        _ replay: LoneReplay, now: Int64, atMost limit: Int
    ) async throws(StoreError) -> LoneReplay? {
        shelf.withLock { $0.keep(replay, now: now, atMost: limit) }
    }
}
