/// What most sessions have none of: labels, a user, earlier tokens, cookie mode, traces of what a store has lost.
package struct SessionDetails: Sendable {
    package var labels: SessionLabels
    package var userID: String?
    /// Tokens that were replaced, the newest last.
    package var retiredTokens: [RetiredToken]
    package var mode: SessionMode
    /// A store that may have lost commits sets this above every revision that it can have lost, and for a session that
    /// comes from elsewhere above every revision that it may have had here. Later revisions, and steps of journeys, are
    /// greater, so that no entity tag is given twice. 0 for nearly all sessions.
    package var revisionFloor: UInt64
    /// Services that were written once and are not declared any more: kept as they are, and written back.
    package var undeclared: [UndeclaredService]

    package init(
        labels: SessionLabels = .none, userID: String? = nil, retiredTokens: [RetiredToken] = [],
        mode: SessionMode = .bearer, revisionFloor: UInt64 = 0, undeclared: [UndeclaredService] = []
    ) {
        self.labels = labels
        self.userID = userID
        self.retiredTokens = retiredTokens
        self.mode = mode
        self.revisionFloor = revisionFloor
        self.undeclared = undeclared
    }

    package static var none: Self { .init() }

    var isEmpty: Bool {
        labels.isEmpty && userID == nil && retiredTokens.isEmpty && mode == .bearer && revisionFloor == 0
            && undeclared.isEmpty
    }
}

/// A service of a session that the configuration does not declare any more.
package struct UndeclaredService: Sendable {
    package let name: String
    /// Its place in the catalogue means nothing.
    package let document: ServiceDocument

    package init(name: String, document: ServiceDocument) {
        self.name = name
        self.document = document
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
