import JSONDocument
import ServiceLocator

/// What the person says of themselves. There are two, `profile` and `temporary-profile`, which is being edited.
public final class ProfileService: SessionService {
    /// What is kept.
    public struct State: Codable, Sendable {
        /// What to call the person; empty when unknown.
        public var name = ""
        /// RFC 5321, 4.1.2; nil when unknown.
        public var email: String?
        /// A BCP 47 language tag, such as `de-AT`.
        public var locale: String?
        /// Other members that a client keeps, by name.
        public var attributes = JSONDocument.emptyObject

        /// With null for what is nil.
        public func encode(to encoder: any Encoder) throws {
            var members = encoder.container(keyedBy: CodingKeys.self)
            try members.encode(name, forKey: .name)
            try members.encode(email, forKey: .email)
            try members.encode(locale, forKey: .locale)
            try members.encode(attributes, forKey: .attributes)
        }
    }

    /// The name in paths.
    public static let name = "profile"
    /// Nothing is known yet.
    public static let initial = State()
    /// JSON Schema, draft 7.
    public static let schema: JSONDocument? = [
        "type": "object",
        "additionalProperties": false,
        "required": ["name", "email", "locale", "attributes"],
        "properties": [
            "name": ["type": "string", "maxLength": 200],
            // RFC 5321 section 4.5.3.1.3: a path has at most 256 octets, two of them the angle brackets.
            "email": ["type": ["string", "null"], "maxLength": 254],
            // RFC 5646 section 4.4.1: 35 characters hold any tag but those with extensions.
            "locale": ["type": ["string", "null"], "maxLength": 35],
            "attributes": ["type": "object", "maxProperties": 64],
        ],
    ]

    /// The document.
    public var state: State

    /// Needs no other service.
    public init(state: State, services: borrowing ServiceResolver) { self.state = state }
}
