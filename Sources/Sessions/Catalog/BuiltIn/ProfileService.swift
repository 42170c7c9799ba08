import JSONDocument
import ServiceLocator

/// What the person says of themselves.
package final class ProfileService: DocumentBackedService {
    package static let key = ServiceKey("profile", of: ProfileService.self)
    /// A second, independent instance, for a profile that is being edited.
    package static let temporaryKey = ServiceKey("temporary-profile", of: ProfileService.self)

    package let state: ServiceState

    package init(state: ServiceState) { self.state = state }

    package var name: String {
        get { state[string: "name"] ?? "" }
        set { state["name"] = JSONDocument(newValue) }
    }

    package var email: String? {
        get { state[string: "email"] }
        set { state["email"] = newValue.map { JSONDocument($0) } ?? JSONDocument.null }
    }

    /// A BCP 47 language tag, such as `de-AT`.
    package var locale: String? {
        get { state[string: "locale"] }
        set { state["locale"] = newValue.map { JSONDocument($0) } ?? JSONDocument.null }
    }

    /// Other members that a client keeps, by name.
    package var attributes: JSONDocument {
        get { state["attributes"] ?? .emptyObject }
        set { state["attributes"] = newValue }
    }

    static func definition(_ key: ServiceKey<ProfileService>) -> ServiceDefinition {
        ServiceDefinition(
            key, kind: "profile",
            schema: [
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
            ],
            default: ["name": "", "email": nil, "locale": nil, "attributes": .emptyObject],
            completesFromDefault: true)
    }
}
