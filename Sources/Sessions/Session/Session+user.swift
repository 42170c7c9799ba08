import JSONDocument
import Navigation

extension Session {
    /// Keeps the session's user and the state of the `user` service the same: after a write of the service, which only
    /// an admin can do, the session belongs to the user that it names. What was bound to another user is removed. The
    /// token stays; ``Sessions/attach(_:to:)``, which signs a user in, replaces it.
    ///
    /// - Parameter change: writes the service, among others perhaps. It is done again if hooks have to run before it.
    /// - Throws: ``SessionError/invalid(_:)`` when no session can belong to such a user.
    func followUser(
        on pending: inout PendingState, _ change: (inout PendingState) throws(SessionError) -> Void
    ) throws(SessionError) {
        guard let service = pending.catalog[UserService.name] else { return try change(&pending) }
        var changed = pending
        try change(&changed)
        try followUser(service, on: &changed)
        let users = [pending, changed].map { $0.details.userID.map(ExactText.init) }
        if pending.catalog.hasSignedOut, users[0] != users[1] {
            // They see who is signed in, and what is still theirs.
            environment.runSignedOut(on: &pending)
            changed = pending
            try change(&changed)
            try followUser(service, on: &changed)
        }
        pending = changed
    }

    private func followUser(_ service: RegisteredService, on pending: inout PendingState) throws(SessionError) {
        let kept = pending.document(of: service)
        // Nothing has changed it, so the session still belongs to the same user.
        if kept?.isDamaged == true { return }
        let state = try kept.map { document throws(SessionError) in try service.document(parsing: document.bytes) }
        let userID = state?[member: "authenticated"]?.bool == true ? state?[member: "id"]?.string : nil
        let longest = environment.settings.maxUserID
        if let userID, !(1...longest).contains(userID.utf8.count) {
            throw .invalid([JSONViolation(pointer: "/id", detail: "A user id has 1 to \(longest) bytes.")])
        }
        let former = pending.details.userID
        if former == nil, userID == nil { return }
        if let former, let userID, former.isExactly(userID) { return }
        if former != nil { try removeUser(from: &pending, except: service) }
        try dropLinks(on: &pending)
        try dropMessages(on: &pending)
        setUser(userID, on: &pending)
    }

    /// Attaches a user, or nobody, and tells back ends.
    func setUser(_ userID: String?, on pending: inout PendingState) {
        let former = pending.details.userID
        guard former != nil || userID != nil else { return }
        pending.details.userID = userID
        if let former, userID?.isExactly(former) != true { environment.tell(.signedOut, of: former, on: &pending) }
        if let userID { environment.tell(.signedIn, of: userID, on: &pending) }
    }

    /// Attaches a user. If another one was attached, what is that user's goes. All tokens end but the new one.
    ///
    /// - Parameters:
    ///   - exchange: what is left of the token before; nil when the caller hands over the new one.
    ///   - journey: stays in any case: the step that signs in is the new user's.
    func attach(
        _ signIn: SignIn, leaving exchange: TokenExchange? = nil, keeping journey: String? = nil,
        on pending: inout PendingState
    ) throws(SessionError) {
        // Its tokens may have ended since the caller found it.
        guard pending.token != .ofNobody else { throw .ended }
        let user = try pending.catalog.service(named: UserService.name)
        if let former = pending.details.userID, !former.isExactly(signIn.userID) {
            try leaveUser(on: &pending, keeping: journey)
        }
        try dropLinks(on: &pending)
        if pending.details.userID?.isExactly(signIn.userID) != true { try dropMessages(on: &pending) }
        setUser(signIn.userID, on: &pending)
        (pending.details.retiredTokens, pending.details.exchange) = ([], exchange)
        pending.token = signIn.token.digest
        pending.take(signIn.times)
        pending.write(user, signIn.document)
        try redate(&pending)
    }

    /// The end of the session may have moved, and what its journeys do then.
    private func redate(_ pending: inout PendingState) throws(SessionError) {
        guard pending.definitions.journeys.engine.catalog.hasLastingExits,
            var work = try? JourneyWork(on: pending, environment), !work.kept.isEmpty
        else { return }
        try work.keep(atMost: nil)
        pending = work.pending
    }

    /// Ends the tokens of a session that its user did not ask to end, if it has work: it goes on without them. Links to
    /// its journeys end as well when somebody has stolen one. Of an expired one this tells back ends that it has.
    ///
    /// - Returns: false when it has no work.
    nonisolated(nonsending) func loseTokens(_ end: SessionEnd) async throws(SessionError) -> Bool {
        do {
            return try await transact(hasPrecedence: true) { [self] pending in
                guard pending.times.keptUntil > pending.now || end == .expired else { return false }
                guard pending.token != .ofNobody else { return true }
                if end == .tokenReused { try dropLinks(on: &pending) }
                (pending.details.retiredTokens, pending.details.exchange) = ([], nil)
                pending.token = .ofNobody
                environment.tell(.ended, of: pending.details.userID, because: end, on: &pending)
                return true
            }
        } catch {
            // Units of work throw nothing else.
            throw error as? SessionError ?? .contention
        }
    }

    /// What was given out before a sign-in leads nobody to what the user does after it.
    private func dropLinks(on pending: inout PendingState) throws(SessionError) {
        guard var work = try? JourneyWork(on: pending, environment), work.kept.transfers.hasLinks else { return }
        work.kept.transfers.forgetLinks()
        try work.keep(atMost: nil)
        pending = work.pending
    }

    /// What journeys have told one person is not shown to another.
    private func dropMessages(on pending: inout PendingState) throws(SessionError) {
        guard var work = try? JourneyWork(on: pending, environment), work.dropMessages() else { return }
        try work.keep(atMost: nil)
        pending = work.pending
    }

    /// Runs the hooks of signing out, then removes what is the attached user's.
    ///
    /// - Parameter journey: stays in any case.
    func leaveUser(on pending: inout PendingState, keeping journey: String? = nil) throws(SessionError) {
        environment.runSignedOut(on: &pending)
        try removeUser(from: &pending, keeping: journey)
        try dropMessages(on: &pending)
    }

    /// Removes what is the attached user's: their journeys are abandoned and forgotten, then the services go that are
    /// bound to a user. What only a guest has moved, and what is bound to the session, stays.
    ///
    /// - Parameters:
    ///   - service: stays, too.
    ///   - journey: stays, too.
    private func removeUser(
        from pending: inout PendingState, except service: RegisteredService? = nil, keeping journey: String? = nil
    ) throws(SessionError) {
        // Journeys that cannot be read stay as they are.
        if var work = try? JourneyWork(on: pending, environment), !work.kept.isEmpty {
            try work.abandonJourneysOfUser(except: journey)
            if work.pending.isRecordChanged { pending = work.pending }
        }
        // A service that is declared again may be bound to the user.
        pending.removeAll(undeclared: true) { $0.isUserBound && $0.index != service?.index }
        // By the common idle timeout it may have expired days ago, and the user goes because somebody uses it.
        let (now, isChosen) = (pending.now, pending.details.idleTimeout != nil)
        if isChosen, use(now: now) { environment.noteUse(of: self, at: now) }
        pending.dropChosenTimes(environment.settings)
        try redate(&pending)
    }
}

extension JourneyWork {
    /// Gives up the journeys that a signed-in user has moved or written to last, the newest first. The others lose the
    /// services that are bound to a user. Tasks that the user's journeys have recorded are done all the same.
    mutating func abandonJourneysOfUser(except kept: String? = nil) throws(SessionError) {
        var hasChanged = false
        for entry in self.kept.entries.reversed() {
            if entry.journey.isOfUser, entry.journey.id != kept, !engine.isBoundToSession(entry.journey) {
                try abandon(entry)
                continue
            }
            var journey = entry.journey
            journey.removeOwned { pending.catalog[$0.name]?.isUserBound ?? true }
            guard journey.owned.count < entry.journey.owned.count else { continue }
            _ = self.kept.keep(journey)
            hasChanged = true
        }
        // On its way to another session: it may arrive there, and returns to nobody else.
        let engine = engine
        let isLeft = self.kept.transfers.forgetJourneys { $0.isOfUser && !engine.isBoundToSession($0) }
        if hasChanged || isLeft { try keep(atMost: nil) }
    }
    /// - Returns: whether there was any.
    mutating func dropMessages() -> Bool {
        var hasChanged = false
        for entry in self.kept.entries where entry.journey.hasMessage {
            var journey = entry.journey
            journey.forgetMessage()
            _ = self.kept.keep(journey)
            hasChanged = true
        }
        return hasChanged
    }
}
