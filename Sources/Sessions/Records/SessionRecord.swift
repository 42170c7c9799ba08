/// One committed state of a session. Immutable: the resident session and the memory store share it.
///
/// There are many sessions, mostly alike, so what most of them do not have is in ``SessionDetails``.
package final class SessionRecord: Sendable {
    package let id: SessionID
    package let token: TokenDigest
    /// In steady time, like every time here.
    package let createdAt: Int64
    /// The absolute expiry. It never moves.
    package let expiresAt: Int64
    /// Grows with every commit.
    package let revision: UInt64
    /// The written services, in the order in which their instances were created.
    package let services: [ServiceDocument]
    private let box: SessionDetailsBox?

    package init(
        id: SessionID, token: TokenDigest, createdAt: Int64, expiresAt: Int64, revision: UInt64,
        services: [ServiceDocument], details: SessionDetails
    ) {
        self.id = id
        self.token = token
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revision = revision
        self.services = services
        box = SessionDetailsBox.holding(details)
    }

    /// The state after `former`.
    init(
        after former: SessionRecord, token: TokenDigest, services: [ServiceDocument], changedDetails: SessionDetails?
    ) {
        id = former.id
        self.token = token
        createdAt = former.createdAt
        expiresAt = former.expiresAt
        revision = former.highestRevision + 1
        self.services = services
        box = changedDetails.map(SessionDetailsBox.holding) ?? former.box
    }

    /// No revision above this one was ever given to the session, even one that a store has lost.
    package var highestRevision: UInt64 { max(revision, box?.details.revisionFloor ?? 0) }

    /// The same with a ``SessionDetails/revisionFloor`` of at least `floor`.
    package func raisingRevisionFloor(to floor: UInt64) -> SessionRecord {
        var details = details
        guard details.revisionFloor < floor else { return self }
        details.revisionFloor = floor
        return SessionRecord(
            id: id, token: token, createdAt: createdAt, expiresAt: expiresAt, revision: revision, services: services,
            details: details)
    }

    package var details: SessionDetails { box?.details ?? .none }
    package var userID: String? { box?.details.userID }

    /// Whether nobody can tell it from another record of its revision.
    func isSame(as other: SessionRecord) -> Bool {
        token == other.token && userID == other.userID && details.labels.text == other.details.labels.text
            && services.elementsEqual(other.services) { one, two in
                one.service == two.service && one.revision == two.revision && one.bytes == two.bytes
            }
    }

    /// The bytes of all services.
    var size: Int {
        var size = 0
        for service in services { size += service.bytes.count }
        return size
    }

    /// The bytes that callers have written into the session: all services, declared or not, and the labels. The total
    /// of all sessions has a limit (``SessionStore/documentBytes``).
    package var writtenBytes: Int { box.map { size + $0.details.writtenBytes } ?? size }

    /// The document of a service; `nil` when it was never written. A few comparisons, because sessions have few
    /// services.
    package func document(of service: UInt16) -> ServiceDocument? {
        for document in services where document.service == service { return document }
        return nil
    }
}
