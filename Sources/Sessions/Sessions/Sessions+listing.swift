extension Sessions {
    /// A part of the list of all sessions.
    package struct Page: Sendable {
        package let sessions: [SessionSummary]
        /// Where the next part begins; `nil` at the end.
        package let next: SessionCursor?
    }

    /// Sessions in the store's order of ids. A session that exists all the time is on exactly one page, whatever is
    /// added or removed meanwhile.
    ///
    /// - Parameters:
    ///   - cursor: ``Page/next`` of the previous page.
    ///   - userID: only the sessions of that user.
    ///   - isActive: true for sessions that can be used, false for expired sessions that are not deleted yet, `nil` for
    ///     both.
    package func page(
        after cursor: SessionCursor? = nil, limit: Int, userID: String? = nil, isActive: Bool? = nil
    ) async throws(SessionError) -> Page {
        let now = environment.clock.now()
        let limit = max(1, limit)
        var next = cursor?.id
        var found: [StoredSession] = []
        // Sessions that are filtered out or cannot be read are replaced by more.
        repeat {
            guard let isActive else {
                let part = try await part(after: next, limit: limit - found.count, userID: userID)
                found += part.sessions.map(current)
                next = part.next
                continue
            }
            // One round of the store costs about the same for one session as for many, and most may be filtered out.
            let part = try await part(after: next, limit: Self.filteredRound, userID: userID)
            found += part.sessions.map(current).filter { isActive == $0.isUsable(environment.settings, now: now) }
            next = part.next
            // One session more than requested shows that there is a next page.
            if found.count > limit { next = found[limit - 1].record.id }
            await Task.yield()
        } while next != nil && found.count < limit + (isActive == nil ? 0 : 1)
        return Page(
            sessions: found.prefix(limit).map { SessionSummary($0, environment) }, next: next.map(SessionCursor.init))
    }

    private static let filteredRound = 1_000

    private func part(after id: SessionID?, limit: Int, userID: String?) async throws(SessionError) -> SessionPage {
        guard let userID else {
            let page = try await stored(after: id, limit: limit)
            return SessionPage(
                sessions: page.sessions.filter { !$0.record.hasEnded }, next: page.next, skipped: page.skipped)
        }
        let later = try await stored(ofUser: userID).filter { session in id.map { session.record.id > $0 } ?? true }
        let part = later.prefix(limit)
        return SessionPage(sessions: Array(part), next: later.count > limit ? part.last?.record.id : nil)
    }

    /// See ``SessionStore/page(after:limit:)``.
    func stored(after id: SessionID?, limit: Int) async throws(SessionError) -> SessionPage {
        let page = try await environment.ask { store throws(StoreError) in
            try await store.page(after: id, limit: limit)
        }
        guard page.sessions.contains(where: { $0.record.id == SessionID.process }) else { return page }
        return SessionPage(
            sessions: page.sessions.filter { $0.record.id != SessionID.process }, next: page.next,
            skipped: page.skipped)
    }
}

/// A place in the list of sessions. To clients it is an opaque text.
package struct SessionCursor: Sendable, Equatable {
    let id: SessionID

    init(id: SessionID) {
        self.id = id
    }

    /// - Throws: ``SessionError/malformedCursor``.
    package init(text: String) throws(SessionError) {
        var text = text
        var content: (UInt64, UInt64, UInt8, UInt8) = (0, 0, 0, 0)
        let isWellFormed = text.withUTF8 { input in
            guard input.count == Self.length else { return false }
            return withUnsafeMutableBytes(of: &content) { output in
                Base64URL.decode(UnsafeRawBufferPointer(input), into: .init(rebasing: output[..<Self.size]))
            }
        }
        guard isWellFormed, content.2 == Self.mark.0, content.3 == Self.mark.1 else { throw .malformedCursor }
        id = SessionID(high: UInt64(bigEndian: content.0), low: UInt64(bigEndian: content.1))
    }

    package var text: String {
        var content = (id.high.bigEndian, id.low.bigEndian, Self.mark.0, Self.mark.1)
        return String(unsafeUninitializedCapacity: Self.length) { buffer in
            withUnsafeBytes(of: &content) { input in
                Base64URL.encode(
                    .init(rebasing: input[..<Self.size]),
                    into: UnsafeMutableRawBufferPointer(.init(rebasing: buffer[..<Self.length])))
            }
            return Self.length
        }
    }

    /// Distinguishes cursors of this list from other texts of the same length.
    private static let mark: (UInt8, UInt8) = (0x73, 0x01)
    private static let size = 18
    private static let length = 24
}
