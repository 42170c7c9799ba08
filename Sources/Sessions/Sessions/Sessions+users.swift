import JSONDocument
import Synchronization

extension Sessions {
    /// Attaches a user to a session, on behalf of a trusted back end.
    ///
    /// The session gets a new token, and all earlier ones end at once, without grace, so an attacker who planted a
    /// token before the sign-in gains nothing. If another user was attached, what was bound to that user is removed.
    ///
    /// - Parameter once: the request, if its copies must not be executed again.
    /// - Throws: ``SessionError/invalid(_:)`` with pointers into the user.
    package func attach(
        _ user: UserClaims, to session: Session, once: Once<(session: SessionSummary, token: SessionToken)>? = nil
    ) async throws -> (session: SessionSummary, token: SessionToken) {
        try await signIn(user, to: session) { signIn in
            // No token would open it.
            guard session.isUsable(now: environment.clock.now()) else { throw SessionError.ended }
            return try await session.transact(once: once) { pending in
                try session.attach(signIn, on: &pending)
                return (session.summary(after: pending), signIn.token)
            }
        }
    }

    /// The same for a user of whom only that is known.
    ///
    /// - Parameter claims: an object.
    package func attachUser(
        _ userID: String, claims: JSONDocument = .emptyObject, to session: Session
    ) async throws -> SessionToken {
        try await attach(UserClaims(userID: userID, claims: claims), to: session).token
    }

    /// Does a unit of work that attaches a user to a session.
    ///
    /// - Parameters:
    ///   - pointer: where the user is in the request.
    ///   - work: attaches the user, or throws.
    func signIn<Done>(
        _ user: UserClaims, at pointer: String = "", to session: Session, _ work: (SignIn) async throws -> Done
    ) async throws -> Done {
        let (settings, userID) = (environment.settings, user.userID)
        let token = SessionToken(for: session.id, random: environment.random)
        let signIn = try SignIn(user, at: pointer, catalog, settings, token)
        await userTurns.take(userID)
        defer { userTurns.pass(userID) }
        if !settings.endsOldestOfUser { try await checkRoom(forUser: userID, session.id) }
        let former = session.stored.deadline(settings)
        let done = try await work(signIn)
        let deadline = session.stored.deadline(settings)
        // An entry for each time that a session is to end sooner, of which there are few.
        if deadline < former { registry.reconsider(session.id, at: deadline) }
        // The earlier tokens have ended, so the caller must get the new one. What is left ends at the next sign-in.
        if settings.endsOldestOfUser, let user = catalog[UserService.name] {
            try? await endOldest(ofUser: userID, except: session.id, user)
        }
        return done
    }

    private func checkRoom(forUser userID: String, _ id: SessionID) async throws(SessionError) {
        let limit = environment.settings.maxSessionsOfUser
        let others = try await sessions(ofUser: userID).count { $0.id != id }
        guard others < limit else { throw .tooManySessionsOfUser(limit: limit) }
    }

    /// Of a user who has too many, ends the sessions in which the sign-in is longest ago.
    private func endOldest(
        ofUser userID: String, except id: SessionID, _ user: RegisteredService
    ) async throws(SessionError) {
        let now = environment.clock.now()
        let others = try await stored(ofUser: userID)
            .filter { $0.record.id != id && $0.isUsable(environment.settings, now: now) }
            .map(\.record)
            .sorted { ($0.signedInAt(user), $0.id) < ($1.signedInAt(user), $1.id) }
        for old in others.prefix(max(0, others.count + 1 - environment.settings.maxSessionsOfUser)) {
            if let session = try await session(old.id) { _ = try await dismiss(session, .userLimit) }
        }
    }

    /// Signs the user out: removes `user` and all services that are bound to a user. The session continues. Other
    /// writes to the session wait for it.
    ///
    /// - Parameter once: the request, if its copies must not be executed again.
    package func detachUser(from session: Session, once: Once<Void>? = nil) async throws {
        try await session.transact(hasPrecedence: true, once: once) { pending in
            try session.leaveUser(on: &pending)
            session.setUser(nil, on: &pending)
        }
    }

    /// The sessions of a user, in the order of their ids.
    package func sessions(ofUser userID: String) async throws(SessionError) -> [SessionSummary] {
        let now = environment.clock.now()
        return try await stored(ofUser: userID)
            .filter { $0.isUsable(environment.settings, now: now) }
            .map { SessionSummary($0, environment) }
    }

    /// Ends the sessions of a user.
    ///
    /// - Returns: how many.
    package func endSessions(
        ofUser userID: String, except kept: SessionID? = nil
    ) async throws(SessionError) -> Int {
        var count = 0
        for stored in try await stored(ofUser: userID) where stored.record.id != kept {
            guard let session = try await session(stored.record.id) else { continue }
            if try await end(session) { count += 1 }
        }
        return count
    }

    /// Ends every session that was there when it was called; those that begin meanwhile may stay.
    ///
    /// - Returns: how many.
    package func endAllSessions() async throws -> Int {
        var (count, cursor) = (0, nil as SessionCursor?)
        repeat {
            let page = try await page(after: cursor, limit: 256)
            // Together, because a store writes what comes together at once.
            count += try await withThrowingTaskGroup(of: Bool.self) { group in
                for summary in page.sessions {
                    group.addTask {
                        guard let session = try await self.session(summary.id) else { return false }
                        return try await self.end(session)
                    }
                }
                return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
            }
            cursor = page.next
        } while cursor != nil
        return count
    }

    func stored(ofUser userID: String) async throws(SessionError) -> [StoredSession] {
        try await environment.ask { store throws(StoreError) in try await store.sessions(ofUser: userID) }.map(current)
    }

    /// Memory has the latest time of use.
    func current(_ stored: StoredSession) -> StoredSession {
        stored.current(lastUse: registry.lastUse(of: stored.record.id), now: environment.clock.now())
    }
}

extension SessionRecord {
    fileprivate func signedInAt(_ user: RegisteredService) -> Int64 {
        services.first { $0.service == user.index }?.updatedAt ?? createdAt
    }
}

extension StoredSession {
    /// With the time of its last use as far as it is known.
    ///
    /// - Parameter lastUse: the time that memory has, if any.
    func current(lastUse: Int64?, now: Int64) -> StoredSession {
        // A process with a wrong clock may have stored a time in the future.
        let lastUsedAt = max(min(self.lastUsedAt, now), lastUse ?? .min)
        return lastUsedAt == self.lastUsedAt ? self : StoredSession(record: record, lastUsedAt: lastUsedAt)
    }
}

/// Lets one task at a time attach a session to a user, so that none counts sessions while another adds one.
final class UserTurns: Sendable {
    /// The users whose turn is taken, and who waits for it, in order.
    private let waiting = Mutex<[String: [UnsafeContinuation<Void, Never>]]>([:])

    /// Waits for the user's turn. ``pass(_:)`` must follow.
    func take(_ user: String) async {
        await withUnsafeContinuation { continuation in
            let isFree = waiting.withLock { waiting in
                guard waiting[user] == nil else {
                    waiting[user]?.append(continuation)
                    return false
                }
                waiting[user] = []
                return true
            }
            if isFree { continuation.resume() }
        }
    }

    func pass(_ user: String) {
        let next = waiting.withLock { waiting -> UnsafeContinuation<Void, Never>? in
            guard let first = waiting[user]?.first else {
                waiting[user] = nil
                return nil
            }
            waiting[user]?.removeFirst()
            return first
        }
        next?.resume()
    }

    var isEmpty: Bool { waiting.withLock(\.isEmpty) }
}
