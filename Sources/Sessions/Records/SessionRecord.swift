/// One committed state of a session. Immutable: the resident session and the memory store share it.
///
/// There are many sessions, mostly alike, so what most of them do not have is in ``SessionDetails``.
package final class SessionRecord: Sendable {
    package let id: SessionID
    package let token: TokenDigest
    /// In steady time, like every time here.
    package let createdAt: Int64
    /// The absolute expiry. It moves only when a user signs in or out (``ChosenTimes``).
    package let expiresAt: Int64
    /// Grows with every commit.
    package let revision: UInt64
    /// The written services, in the order in which their instances were created.
    package let services: [ServiceDocument]
    package let times: SessionTimes
    private let box: SessionDetailsBox?

    /// - Parameter replays: responses that the session keeps, and the bytes that they count for.
    package init(
        id: SessionID, token: TokenDigest, createdAt: Int64, expiresAt: Int64, revision: UInt64,
        services: [ServiceDocument], times: SessionTimes = .none, details: SessionDetails,
        replays: (entries: [ReplayEntry], bytes: Int) = ([], 0)
    ) {
        self.id = id
        self.token = token
        self.createdAt = createdAt
        self.expiresAt = expiresAt
        self.revision = revision
        self.services = services
        self.times = times
        box = SessionDetailsBox.holding(details, replays.entries, replayBytes: replays.bytes)
    }

    /// The state after `former`.
    ///
    /// - Parameter changedReplays: `nil` for those of `former`.
    init(
        after former: SessionRecord, token: TokenDigest, services: [ServiceDocument], times: SessionTimes,
        expiresAt: Int64, changedDetails: SessionDetails?, changedReplays: [ReplayEntry]? = nil
    ) {
        id = former.id
        self.token = token
        createdAt = former.createdAt
        self.expiresAt = expiresAt
        revision = former.highestRevision + 1
        self.services = services
        self.times = times
        if changedDetails == nil, changedReplays == nil {
            box = former.box
        } else {
            box = SessionDetailsBox.holding(
                changedDetails ?? former.details, changedReplays ?? former.replays,
                replayBytes: changedReplays == nil ? former.replayBytes : nil)
        }
    }

    /// The state of a new session that keeps the response to the request that made it.
    init(_ new: SessionRecord, keeping replay: ReplayEntry) {
        id = new.id
        token = new.token
        createdAt = new.createdAt
        expiresAt = new.expiresAt
        revision = new.revision
        services = new.services
        times = new.times
        box = SessionDetailsBox.holding(new.details, [replay])
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
            times: times, details: details)
    }

    /// The same with other times.
    func with(_ times: SessionTimes) -> SessionRecord {
        SessionRecord(
            id: id, token: token, createdAt: createdAt, expiresAt: expiresAt, revision: revision, services: services,
            times: times, details: details, replays: (replays, replayBytes))
    }

    package var details: SessionDetails { box?.details ?? .none }
    package var userID: String? { box?.details.userID }
    /// See ``SessionDetails/idleTimeout``. Each request asks for it, and this copies no details.
    package var idleTimeout: Int64? { box?.details.idleTimeout }
    /// See ``SessionDetails/revisionFloor``. Each step asks for it, and this copies no details.
    var revisionFloor: UInt64 { box?.details.revisionFloor ?? 0 }

    /// Whether nobody can tell it from another record of its revision.
    func isSame(as other: SessionRecord) -> Bool {
        token == other.token && userID == other.userID && details.labels.text == other.details.labels.text
            && services.elementsEqual(other.services) { one, two in
                one.service == two.service && one.revision == two.revision && one.bytes == two.bytes
            }
    }

    /// The responses that the session keeps, in the order in which they were added.
    package var replays: [ReplayEntry] { box?.replays ?? [] }

    /// The bytes that they count for: also those that a store has removed since, until the session's next keyed commit.
    package var replayBytes: Int { box?.replayBytes ?? 0 }

    /// The bytes of all services.
    var size: Int {
        var size = 0
        for service in services { size += service.bytes.count }
        return size
    }

    /// The bytes that callers have written into the session: all services, declared or not, the labels, and the
    /// responses that it keeps. The total of all sessions has a limit (``SessionStore/documentBytes``).
    package var writtenBytes: Int { box.map { size + $0.details.writtenBytes + $0.replayBytes } ?? size }

    /// The document of a service; `nil` when it was never written. A few comparisons, because sessions have few
    /// services.
    package func document(of service: UInt16) -> ServiceDocument? {
        for document in services where document.service == service { return document }
        return nil
    }
}
