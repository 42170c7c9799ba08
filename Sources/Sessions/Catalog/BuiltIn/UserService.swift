import JSONDocument
import ServiceLocator

/// The user attached to the session. Others can only read it: the back end that signs users in writes it.
public final class UserService: SessionService {
    /// What is kept.
    public struct State: Codable, Sendable {
        /// The id that the back end gave; nil without a user.
        public internal(set) var id: String?
        /// Whether there is one.
        public internal(set) var authenticated = false
        /// What the back end knows of the user, by name.
        public internal(set) var claims = JSONDocument.emptyObject

        /// With null for no user.
        public func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(id, forKey: .id)
            try members.encode(authenticated, forKey: .authenticated)
            try members.encode(claims, forKey: .claims)
        }
    }

    /// The name in paths.
    public static let name = "user"
    /// Nothing is known yet.
    public static let initial = State()
    /// JSON Schema, draft 7.
    public static let schema: JSONDocument? = [
        "type": "object",
        "additionalProperties": false,
        "required": ["id", "authenticated", "claims"],
        "properties": [
            "id": ["type": ["string", "null"], "minLength": 1, "maxLength": 256],
            "authenticated": ["type": "boolean"],
            "claims": ["type": "object", "maxProperties": 128],
        ],
    ]
    /// Back ends write it.
    public static let isReadOnly = true
    /// It goes with the user.
    public static let isUserBound = true

    /// The document.
    public var state: State

    /// Needs no other service.
    public init(state: State, services: borrowing ServiceResolver) { self.state = state }

    /// The state while `userID` is attached.
    static func document(userID: String, claims: JSONDocument) -> JSONDocument {
        ["id": JSONDocument(userID), "authenticated": true, "claims": claims]
    }
}
