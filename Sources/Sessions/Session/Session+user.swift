import JSONDocument
import Navigation

extension Session {
    /// Keeps the session's user and the state of the `user` service the same: after a write of the service, which only
    /// an admin can do, the session belongs to the user that it names. What was bound to another user is removed. The
    /// token stays; ``Sessions/attachUser(_:claims:to:)``, which signs a user in, replaces it.
    ///
    /// - Parameter change: writes the service, among others perhaps. It is done again if hooks have to run before it.
    /// - Throws: ``SessionError/invalid(_:)`` when no session can belong to such a user.
    func followUser(
        on pending: inout PendingState, _ change: (inout PendingState) throws(SessionError) -> Void
    ) throws(SessionError) {
        guard let service = environment.catalog[UserService.name] else { return try change(&pending) }
        var changed = pending
        try change(&changed)
        try followUser(service, on: &changed)
        let users = [pending, changed].map { $0.details.userID.map(ExactText.init) }
        if environment.catalog.hasSignedOut, users[0] != users[1] {
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
            throw .invalid([InvalidInput(pointer: "/id", detail: "A user id has 1 to \(longest) bytes.")])
        }
        let former = pending.details.userID
        if former == nil, userID == nil { return }
        if let former, let userID, former.isExactly(userID) { return }
        if former != nil { try removeUser(from: &pending, except: service) }
        pending.details.userID = userID
    }

    /// Runs the hooks of signing out, then removes what is the attached user's.
    func leaveUser(on pending: inout PendingState) throws(SessionError) {
        environment.runSignedOut(on: &pending)
        try removeUser(from: &pending)
    }

    /// Removes what is the attached user's: their journeys are abandoned and forgotten, then the services go that are
    /// bound to a user. What only a guest has moved, and what is bound to the session, stays.
    ///
    /// - Parameter service: stays, too.
    private func removeUser(
        from pending: inout PendingState, except service: RegisteredService? = nil
    ) throws(SessionError) {
        // Journeys that cannot be read stay as they are.
        if var work = try? JourneyWork(on: pending, environment), !work.kept.isEmpty {
            try work.abandonJourneysOfUser()
            if work.pending.isRecordChanged { pending = work.pending }
        }
        pending.removeAll { $0.isUserBound && $0.index != service?.index }
    }
}

extension JourneyWork {
    /// Gives up the journeys that a signed-in user has moved or written to last, the newest first. The others lose the
    /// services that are bound to a user. Tasks that the user's journeys have recorded are not done any more.
    mutating func abandonJourneysOfUser() throws(SessionError) {
        var hasChanged = forgetTasksOfUser()
        for entry in kept.entries.reversed() {
            if entry.journey.isOfUser, !engine.isBoundToSession(entry.journey) {
                try abandon(entry)
                continue
            }
            var journey = entry.journey
            journey.removeOwned { environment.catalog[$0.name]?.isUserBound ?? true }
            guard journey.owned.count < entry.journey.owned.count else { continue }
            _ = kept.keep(KeptJourney(journey))
            hasChanged = true
        }
        if hasChanged { try keep() }
    }
}
