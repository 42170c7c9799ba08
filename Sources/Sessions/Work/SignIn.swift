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

    /// Reads `{"user_id", "claims"}`.
    ///
    /// - Parameter pointer: the place of `document` in the request.
    /// - Throws: ``SessionError/inputInvalid(_:)``.
    package init(_ document: JSONDocument, at pointer: String) throws(SessionError) {
        func refusal(_ place: String, _ detail: String) -> SessionError {
            .inputInvalid([InvalidInput(pointer: pointer + place, detail: detail)])
        }
        guard let members = document.members else { throw refusal("", "must be an object") }
        if let other = members.first(where: { !["user_id", "claims"].contains($0.name) }) {
            throw refusal("/\(JSONPointer.escape(other.name))", "is unknown; allowed: user_id, claims")
        }
        guard let userID = document[member: "user_id"]?.string else { throw refusal("/user_id", "must be a string") }
        let claims = document[member: "claims"] ?? .emptyObject
        guard claims.kind == .object else { throw refusal("/claims", "must be an object") }
        self.init(userID: userID, claims: claims)
    }
}

/// What a task's result that signs in has done.
package struct SignedIn: Sendable {
    package let session: SessionSummary
    /// For the back end to hand over; nil when the client fetches it (``Sessions/exchange(_:_:of:once:)``).
    package let token: SessionToken?
}
