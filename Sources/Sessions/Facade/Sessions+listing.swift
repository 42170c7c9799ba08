extension Sessions {
    /// A part of the list of all sessions.
    package struct Page: Sendable {
        package let sessions: [SessionSummary]
        /// Where the next part begins; nil at the end.
        package let next: SessionCursor?
    }

    /// Sessions in the order of their ids. One that is there all the time is on exactly one page, whatever comes and
    /// goes meanwhile.
    ///
    /// - Parameters:
    ///   - cursor: what the page before gave.
    ///   - userID: those of that user only.
    ///   - isActive: true for those that can be used, false for those whose time is over and that are about to be
    ///     removed, nil for both.
    package func page(
        after cursor: SessionCursor? = nil, limit: Int, userID: String? = nil, isActive: Bool? = nil
    ) async throws(SessionError) -> Page {
        let now = environment.clock.now()
        let limit = max(1, limit)
        var last = cursor?.id
        var found: [StoredSession] = []
        // One more than asked for shows whether there is a next page. What is filtered out is replaced by more.
        while found.count <= limit {
            // A store's round costs much the same for one as for many, and most may be filtered out.
            let wanted = max(limit + 1 - found.count, isActive == nil ? 0 : Self.filteredRound)
            let batch = try await batch(after: last, limit: wanted, userID: userID)
            found += batch.map(current).filter { session in
                isActive == nil || isActive == (session.deadline(environment.settings) > now)
            }
            guard batch.count == wanted else { break }
            last = batch.last?.record.id
            await Task.yield()
        }
        let page = found.prefix(limit)
        let next = found.count > limit ? page.last.map { SessionCursor(id: $0.record.id) } : nil
        return Page(sessions: page.map { SessionSummary($0, environment) }, next: next)
    }

    private static let filteredRound = 1_000

    private func batch(
        after id: SessionID?, limit: Int, userID: String?
    ) async throws(SessionError) -> [StoredSession] {
        if let userID {
            let later = try await stored(ofUser: userID).filter { session in
                id.map { session.record.id > $0 } ?? true
            }
            return Array(later.prefix(limit))
        }
        do {
            return try await environment.store.page(after: id, limit: limit)
        } catch {
            throw SessionError(error)
        }
    }
}

/// A place in the list of sessions. Clients get it as a text that says nothing to them.
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

    /// Tells cursors of this list from other texts of the same length.
    private static let mark: (UInt8, UInt8) = (0x73, 0x01)
    private static let size = 18
    private static let length = 24
}
