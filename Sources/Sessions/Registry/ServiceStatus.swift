import JSONDocument
import ServiceLocator

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
        commands = service.commandNames
        isLive = createdAt != nil
        self.etag = etag
        self.createdAt = createdAt.map(environment.timestamp)
        self.updatedAt = updatedAt.map(environment.timestamp)
        expiresAt = createdAt.flatMap { created in service.lifetime.map { environment.timestamp(created + $0) } }
    }
}
