import JSONDocument
import ServiceLocator

/// The public description of a session. Nothing in it is secret.
package struct SessionSummary: Sendable, Equatable {
    package let id: SessionID
    package let createdAt: Timestamp
    package let lastUsedAt: Timestamp
    /// When it expires if it is not used; never later than ``expiresAt``.
    package let idleExpiresAt: Timestamp
    package let expiresAt: Timestamp
    /// Until when it stays, expired or not, for work that a journey waits for; `nil` when none does.
    package let keptUntil: Timestamp?
    package let userID: String?
    package let labels: SessionLabels
    package let mode: SessionMode
    package let revision: UInt64

    init(_ stored: StoredSession, _ environment: SessionEnvironment) {
        let record = stored.record
        let details = record.details
        id = record.id
        // The clocks are read once, so that all times are shown by the same wall clock.
        let created = environment.timestamp(record.createdAt)
        func shown(_ steady: Int64) -> Timestamp {
            Timestamp(millisecondsSince1970: created.millisecondsSince1970 + steady - record.createdAt)
        }
        createdAt = created
        lastUsedAt = shown(stored.lastUsedAt)
        idleExpiresAt = shown(stored.deadline(environment.settings))
        expiresAt = shown(record.expiresAt)
        // Most have had none, and then the clock is not asked.
        let hasWork = record.times.keptUntil > .min && record.times.keptUntil > environment.clock.now()
        keptUntil = hasWork ? shown(record.times.keptUntil) : nil
        userID = details.userID
        labels = details.labels
        mode = details.mode
        revision = record.highestRevision
    }
}

/// An item of a session's list of services.
package struct ServiceStatus: Sendable, Equatable {
    package let name: String
    package let kind: String
    package let scope: ServiceScope
    package let isLive: Bool
    /// The names of its commands.
    package let commands: [String]
    package let etag: ServiceETag
    package let createdAt: Timestamp?
    /// `nil` when the service was never written.
    package let updatedAt: Timestamp?
    /// `nil` when no instance lives, or it does not expire.
    package let expiresAt: Timestamp?

    /// - Parameter instance: the living one, if there is one.
    init(_ service: RegisteredService, _ instance: ServiceDocument?, _ environment: SessionEnvironment) {
        self.init(
            service, etag: ServiceETag(revision: instance?.revision ?? 0), createdAt: instance?.createdAt,
            updatedAt: instance.flatMap { $0.isWritten ? $0.updatedAt : nil }, environment)
    }

    /// - Parameters:
    ///   - createdAt: in steady time; `nil` when no instance lives.
    ///   - updatedAt: in steady time.
    init(
        _ service: RegisteredService, etag: ServiceETag, createdAt: Int64?, updatedAt: Int64?,
        _ environment: SessionEnvironment
    ) {
        name = service.name
        kind = service.kind
        scope = service.scope
        // Sessions do not call those of the process.
        commands = service.scope == .process ? [] : service.commandNames
        isLive = createdAt != nil
        self.etag = etag
        self.createdAt = createdAt.map(environment.timestamp)
        self.updatedAt = updatedAt.map(environment.timestamp)
        expiresAt = createdAt.flatMap { created in service.lifetime.map { environment.timestamp(created + $0) } }
    }
}
