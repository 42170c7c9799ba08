import JSONDocument
import ServiceLocator

/// The user attached to the session. Clients can only read it: the back end that signs users in writes it.
package final class UserService: DocumentBackedService {
    package static let key = ServiceKey("user", of: UserService.self)

    package let state: ServiceState

    package init(state: ServiceState) { self.state = state }

    package var id: String? { state[string: "id"] }
    package var claims: JSONDocument { state["claims"] ?? .emptyObject }

    /// The state while `userID` is attached.
    static func document(userID: String, claims: JSONDocument) -> JSONDocument {
        ["id": JSONDocument(userID), "authenticated": true, "claims": claims]
    }

    static let definition = ServiceDefinition(
        key, kind: "user",
        schema: [
            "type": "object",
            "additionalProperties": false,
            "required": ["id", "authenticated", "claims"],
            "properties": [
                "id": ["type": ["string", "null"], "minLength": 1, "maxLength": 256],
                "authenticated": ["type": "boolean"],
                "claims": ["type": "object", "maxProperties": 128],
            ],
        ],
        default: ["id": nil, "authenticated": false, "claims": .emptyObject],
        isUserBound: true, isReadOnly: true)
}
