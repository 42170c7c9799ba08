import JSONDocument

extension PendingState {
    /// Keeps the session's user and the state of the `user` service the same: after a write of the service, which only
    /// an admin can do, the session belongs to the user that it names. What was bound to another user is removed. The
    /// token stays; ``Sessions/attachUser(_:claims:to:)``, which signs a user in, replaces it.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` when no session can belong to such a user.
    mutating func followUser(_ service: RegisteredService, _ settings: SessionSettings) throws(SessionError) {
        guard service.name == UserService.key.name else { return }
        let state = try document(of: service).map { document throws(SessionError) in
            try service.document(parsing: document.bytes)
        }
        let userID = state?[member: "authenticated"]?.bool == true ? state?[member: "id"]?.string : nil
        if let userID, !(1...settings.maxUserID).contains(userID.utf8.count) {
            throw .invalid([
                InvalidInput(pointer: "/id", detail: "A user id has 1 to \(settings.maxUserID) bytes.")
            ])
        }
        let former = details.userID
        if former == nil, userID == nil { return }
        if let former, let userID, former.isExactly(userID) { return }
        if former != nil { removeAll { $0.isUserBound && $0.index != service.index } }
        details.userID = userID
    }
}
