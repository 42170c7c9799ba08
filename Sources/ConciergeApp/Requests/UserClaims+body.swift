import API
import JSONDocument
import Sessions

extension UserClaims {
    private static let names = ["user_id", "claims"]

    /// Reads the body `{"user_id", "claims"}`.
    init(_ body: JSONDocument, at pointer: String = "") throws(Problem) {
        let members = try RequestBody.members(of: body, at: pointer, known: Self.names)
        func refusal(_ name: String, _ detail: String) -> Problem {
            Problem(.invalidInput, errors: [InvalidInput(pointer: "\(pointer)/\(name)", detail: detail)])
        }
        guard let userID = members["user_id"]?.string else { throw refusal("user_id", "must be a string") }
        let claims = members["claims"] ?? .emptyObject
        guard claims.kind == .object else { throw refusal("claims", "must be an object") }
        self.init(userID: userID, claims: claims)
    }

    /// The member `sign_in` of a task's result.
    static func ofResult(_ result: JSONDocument?) throws(Problem) -> UserClaims? {
        guard let result else { return nil }
        return try UserClaims(result, at: "/sign_in")
    }
}
