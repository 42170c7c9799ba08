/// What most sessions have none of: labels, a user, earlier tokens, cookie mode.
package struct SessionDetails: Sendable {
    package var labels: SessionLabels
    package var userID: String?
    /// Tokens that were replaced, the newest last.
    package var retiredTokens: [RetiredToken]
    package var mode: SessionMode

    package init(
        labels: SessionLabels = .none, userID: String? = nil, retiredTokens: [RetiredToken] = [],
        mode: SessionMode = .bearer
    ) {
        self.labels = labels
        self.userID = userID
        self.retiredTokens = retiredTokens
        self.mode = mode
    }

    package static var none: Self { .init() }

    var isEmpty: Bool {
        labels.isEmpty && userID == nil && retiredTokens.isEmpty && mode == .bearer
    }
}

/// Keeps the details apart from the record, which costs a session without any one pointer.
final class SessionDetailsBox: Sendable {
    let details: SessionDetails

    private init(_ details: SessionDetails) {
        self.details = details
    }

    /// Nil when there are none. Not an initialiser that fails: that would take memory first and give it back.
    static func holding(_ details: SessionDetails) -> SessionDetailsBox? {
        details.isEmpty ? nil : SessionDetailsBox(details)
    }
}

/// How a client carries its token.
package enum SessionMode: String, Sendable {
    case bearer, cookie
}
