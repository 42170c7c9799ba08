import Sessions

extension SQLiteStore: ReplayStore {
    package var replays: any ReplayStore { self }

    package func response(_ id: ShortDigest, of session: SessionID) async throws(StoreError) -> [UInt8]? {
        try await readDerived { reader throws(SQLiteError) in try reader.replays.response(id, of: session) }
    }

    /// The session, its response and the claim are one transaction.
    package func create(
        _ session: StoredSession, once: OnceCreated,
        then done: @escaping @Sendable (Result<LoneReplay?, StoreError>) -> Void
    ) {
        let id = session.record.id
        write { writer throws(SQLiteError) -> Result<LoneReplay?, StoreError> in
            if let refusal = writer.refusal(of: session.record.writtenBytes) { return .failure(refusal) }
            // The claim comes first, since nothing may be left of a session that is not created.
            let claim = once.claim(of: id)
            if let other = try writer.replays.keep(claim, now: once.now, atMost: once.mostLone) {
                return .success(other)
            }
            guard try writer.create(session, telling: once.notice) else {
                try writer.replays.giveUp(claim)
                return .failure(.conflict)
            }
            try writer.replays.apply(ReplayChange(added: once.replay), of: id)
            return .success(nil)
        } then: { outcome in
            done(outcome.flatMap(\.self))
        }
    }

    package func loneReplay(_ id: ShortDigest, now: Int64) async throws(StoreError) -> LoneReplay? {
        try await readDerived { reader throws(SQLiteError) in try reader.replays.loneReplay(id, now: now) }
    }

    package func keep(
        _ replay: LoneReplay, now: Int64, atMost limit: Int
    ) async throws(StoreError) -> LoneReplay? {
        let outcome = try await write { writer throws(SQLiteError) -> Result<LoneReplay?, StoreError> in
            if writer.room.isLow { return .failure(.diskIsFull) }
            return .success(try writer.replays.keep(replay, now: now, atMost: limit))
        }
        return try outcome.get()
    }
}
