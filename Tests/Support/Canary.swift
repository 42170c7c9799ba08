import HTTPTestClient
import Testing

/// Looks for what no log, metric or error may have, in all that the tests see of them.
package enum Canary {
    /// - Parameter secrets: what must not be there besides session tokens.
    package static func check(
        _ text: String, of place: String, secrets: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // The shortest piece of a token that is worth anything to a thief.
        if let token = text.firstMatch(of: /cg_[A-Za-z0-9_-]{24,}/) {
            Issue.record("\(place) has a token: \(token.output)", sourceLocation: sourceLocation)
        }
        for secret in secrets where text.contains(secret) {
            Issue.record("\(place) has the secret \(secret)", sourceLocation: sourceLocation)
        }
    }
}
