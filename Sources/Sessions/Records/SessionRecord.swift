/// One committed state of a session. Immutable: the resident session and the memory store hold the same one.
///
/// Sessions are many and mostly alike, so what most of them lack is in ``SessionDetails``, made only when needed.
package final class SessionRecord: Sendable {
    package let id: SessionID
    package let token: TokenDigest
    /// In steady time, like every time here.
    package let createdAt: Int64
    /// The absolute expiry. It never moves.
    package let expiresAt: Int64
    /// Grows by one with every commit.
    package let revision: UInt64
    /// What was written, in the order in which the instances were made.
    package let services: [ServiceDocument]
    package let details: SessionDetails?

    package init(
        id: SessionID, token: TokenDigest, createdAt: Int64, expiresAt: Int64, revision: UInt64,
        services: [ServiceDocument], details: SessionDetails?
    ) {
        self.id = id
        self.token = token
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revision = revision
        self.services = services
        self.details = details
    }

    package var userID: String? { details?.userID }
    package var labels: SessionLabels { details?.labels ?? .none }
    package var mode: SessionMode { details?.mode ?? .bearer }

    /// The document of a service, nil when it was never written. A few comparisons: sessions have few services.
    package func document(of service: UInt16) -> ServiceDocument? {
        for document in services where document.service == service { return document }
        return nil
    }

    /// The next state: `change` edits a copy, whose revision is one more.
    func next(_ change: (inout SessionDraft) -> Void) -> SessionRecord {
        var draft = SessionDraft(token: token, revision: revision + 1, services: services, details: details ?? .none)
        change(&draft)
        return SessionRecord(
            id: id, token: draft.token, createdAt: createdAt, expiresAt: expiresAt, revision: draft.revision,
            services: draft.services, details: draft.details.isEmpty ? nil : draft.details)
    }
}

/// What may differ between one state of a session and the next.
struct SessionDraft {
    var token: TokenDigest
    let revision: UInt64
    var services: [ServiceDocument]
    var details: SessionDetails
}
