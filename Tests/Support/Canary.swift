import HTTPTestClient
import Testing

/// Looks for what no log, metric or error may have, in all that the tests see of them.
package enum Canary {
    /// Stands in documents and secrets of tests, and nowhere else.
    package static let word = "canary5e7c"
    /// A key that has it: 32 bytes in base64.
    package static let key = String(repeating: word, count: 4) + "ABA="

    /// - Parameter secrets: what must not be there besides session tokens.
    package static func check(
        _ text: String, of place: String, secrets: [String] = [], sourceLocation: SourceLocation = #_sourceLocation
    ) {
        // The shortest piece of a token that is worth anything to a thief.
        if let token = text.firstMatch(of: /cg_[A-Za-z0-9_-]{24,}/) {
            Issue.record("\(place) has a token: \(token.output)", sourceLocation: sourceLocation)
        }
        if text.contains(word) { Issue.record("\(place) has content or a secret", sourceLocation: sourceLocation) }
        if let secret = text.firstMatch(of: /whsec_[A-Za-z0-9+\/]{16,}/) {
            Issue.record("\(place) has the secret of a webhook: \(secret.output)", sourceLocation: sourceLocation)
        }
        for secret in secrets where text.contains(secret) {
            Issue.record("\(place) has the secret \(secret)", sourceLocation: sourceLocation)
        }
    }
}
