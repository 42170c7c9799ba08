import JSONDocument
import Support
import Testing

/// The paths that tests ask for.
enum Paths {
    static let sessions = "/v1/sessions"
    static let current = "/v1/sessions/current"
    static let services = "/v1/sessions/current/services"
    static let tokens = "/v1/sessions/current/tokens"
    static let events = "/v1/sessions/current/events"
    static let transactions = "/v1/sessions/current/transactions"
    static let journeys = "/v1/sessions/current/journeys"
    static let main = journey("main")
    static let profile = service("profile")
    static let quote = service("quote")
    static let user = service("user")

    static func service(_ name: String, of session: String = "current") -> String {
        "/v1/sessions/\(session)/services/\(name)"
    }

    /// A service as a journey's coordinators see it.
    static func service(_ name: String, ofJourney path: String) -> String { "\(path)/services/\(name)" }

    static func journey(_ id: String, of session: String = "current") -> String {
        "/v1/sessions/\(session)/journeys/\(id)"
    }
}

extension TestClient {
    /// What the list of services says of one of them.
    func listing(of name: String) async throws -> JSONDocument? {
        try await get(Paths.services).items.first { $0[string: "name"] == name }
    }

    /// The session's revision.
    func revision() async throws -> Int? { try await get(Paths.current)[member: "revision"]?.int }
}

/// As they stand in the configuration, and what they give.
let defaultProfile: JSONDocument = ["name": "", "email": nil, "locale": nil, "attributes": .emptyObject]

/// RFC 3339 in UTC with milliseconds.
func isTimestamp(_ text: String?) -> Bool {
    text?.wholeMatch(of: /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/) != nil
}
