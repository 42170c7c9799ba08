import JSONDocument

/// A user who is to be attached to a session, and the token that the session has from then on.
struct SignIn: Sendable {
    let userID: String
    /// The state of ``UserService``.
    let document: [UInt8]
    let token: SessionToken
    let times: ChosenTimes

    /// - Parameter pointer: where the user is in the request.
    /// - Throws: ``SessionError/invalid(_:)`` with pointers that begin with `pointer`.
    init(
        _ user: UserClaims, at pointer: String, _ catalog: ServiceCatalog, _ settings: SessionSettings,
        _ token: SessionToken
    ) throws(SessionError) {
        userID = user.userID
        times = user.times
        self.token = token
        do throws(SessionError) {
            document = try Self.document(userID, user.claims, catalog, settings)
            try times.check(settings)
        } catch {
            throw error.within(pointer)
        }
    }

    private static func document(
        _ userID: String, _ claims: JSONDocument, _ catalog: ServiceCatalog, _ settings: SessionSettings
    ) throws(SessionError) -> [UInt8] {
        guard (1...settings.maxUserID).contains(userID.utf8.count) else {
            throw .invalid([
                JSONViolation(pointer: "/user_id", detail: "A user id has 1 to \(settings.maxUserID) bytes.")
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
        return .invalid(errors.within(pointer))
    }
}

/// A user who signs in, as a back end says it.
package struct UserClaims: Sendable {
    package let userID: String
    /// An object.
    package let claims: JSONDocument
    package let times: ChosenTimes

    package init(userID: String, claims: JSONDocument = .emptyObject, times: ChosenTimes = .none) {
        self.userID = userID
        self.claims = claims
        self.times = times
    }

    /// Reads `{"user_id", "claims", "idle_timeout", "lifetime"}`.
    ///
    /// - Parameter pointer: the place of `document` in the request.
    /// - Throws: ``SessionError/inputInvalid(_:)``.
    package init(_ document: JSONDocument, at pointer: String) throws(SessionError) {
        func refusal(_ place: String, _ detail: String) -> SessionError {
            .inputInvalid([JSONViolation(pointer: pointer + place, detail: detail)])
        }
        guard let members = document.members else { throw refusal("", "must be an object") }
        let known = ["user_id", "claims", "idle_timeout", "lifetime"]
        if let other = members.first(where: { !known.contains($0.name) }) {
            let allowed = known.joined(separator: ", ")
            throw refusal("/\(JSONPointer.escape(other.name))", "is unknown; allowed: \(allowed)")
        }
        guard let userID = document[member: "user_id"]?.string else { throw refusal("/user_id", "must be a string") }
        let claims = document[member: "claims"] ?? .emptyObject
        guard claims.kind == .object else { throw refusal("/claims", "must be an object") }
        self.init(userID: userID, claims: claims, times: try ChosenTimes(of: document, at: pointer))
    }
}

/// What a task's result that signs in has done.
package struct SignedIn: Sendable {
    package let session: SessionSummary
    /// For the back end to hand over; nil when the client fetches it (``Sessions/exchange(_:_:of:once:)``).
    package let token: SessionToken?
}
