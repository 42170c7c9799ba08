import JSONDocument

/// A user who is to be attached to a session, and the token that the session has from then on.
struct SignIn: Sendable {
    let userID: String
    /// The state of ``UserService``.
    let document: [UInt8]
    let token: SessionToken

    /// - Parameter pointer: where `user_id` and `claims` are in the request.
    /// - Throws: ``SessionError/invalid(_:)`` with pointers that begin with `pointer`.
    init(
        _ userID: String, _ claims: JSONDocument, at pointer: String, _ catalog: ServiceCatalog,
        _ settings: SessionSettings, _ token: SessionToken
    ) throws(SessionError) {
        self.userID = userID
        self.token = token
        do throws(SessionError) {
            document = try Self.document(userID, claims, catalog, settings)
        } catch {
            throw error.within(pointer)
        }
    }

    private static func document(
        _ userID: String, _ claims: JSONDocument, _ catalog: ServiceCatalog, _ settings: SessionSettings
    ) throws(SessionError) -> [UInt8] {
        guard (1...settings.maxUserID).contains(userID.utf8.count) else {
            throw .invalid([
                InvalidInput(pointer: "/user_id", detail: "A user id has 1 to \(settings.maxUserID) bytes.")
            ])
        }
        let user = try catalog.service(named: UserService.name)
        return try user.bytes(
            of: UserService.document(userID: userID, claims: claims), limit: settings.maxDocumentSize)
    }
}

extension SessionError {
    /// The same with the place of the value in a larger one.
    fileprivate func within(_ pointer: String) -> SessionError {
        guard case .invalid(let errors) = self else { return self }
        return .invalid(errors.map { InvalidInput(pointer: pointer + $0.pointer, detail: $0.detail) })
    }
}

/// A user, as the result of a task names the one who has signed in.
package struct UserClaims: Sendable {
    package let userID: String
    /// An object.
    package let claims: JSONDocument

    package init(userID: String, claims: JSONDocument = .emptyObject) {
        self.userID = userID
        self.claims = claims
    }

    var document: JSONDocument { ["user_id": JSONDocument(userID), "claims": claims] }

    /// Nil when it is not what ``document`` makes.
    init?(_ document: JSONDocument) {
        guard let userID = document[member: "user_id"]?.string, let claims = document[member: "claims"] else {
            return nil
        }
        self.init(userID: userID, claims: claims)
    }
}

/// What a task's result that signs in has done.
package struct SignedIn: Sendable {
    package let session: SessionSummary
    /// For the back end to hand over; nil when the client fetches it (``Sessions/exchange(_:_:of:once:)``).
    package let token: SessionToken?
}
