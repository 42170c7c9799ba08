import JSONDocument
import ServiceLocator

/// The document of a service that a coordinator owns. It lives in its journey, so it is stored, moved and removed with
/// it.
public struct OwnedService: Sendable, Equatable {
    /// The coordinator that owns it.
    public let coordinator: Int
    /// The name of the service.
    public let name: String
    /// The session's revision at the last write: its entity tag. 0 until the step that wrote it is committed.
    public internal(set) var revision: UInt64 = 0
    /// When the instance was made; milliseconds since 1970.
    public internal(set) var createdAt: Int64 = 0
    /// When it was last written.
    public internal(set) var updatedAt: Int64 = 0
    /// Its state.
    public internal(set) var document: JSONDocument
}

/// The services that a coordinator sees. A name means the service that the coordinator owns, else the one that the
/// nearest coordinator above it owns, else the session's.
package struct ServiceOwners {
    package struct Level: Sendable {
        package let coordinator: Int
        /// The id of its flow.
        package let flow: String
        package let names: [String]
    }

    /// Stands for the session where the number of a coordinator is expected.
    static let session = -1

    /// The coordinators that own something, the nearest first. Nearly always empty.
    package var levels: [Level] = []

    /// The coordinator that owns the service of that name; ``session`` when none does.
    func owner(of service: String) -> Int { level(of: service)?.coordinator ?? Self.session }

    /// The level that owns a service; nil for the session.
    package func level(of service: String) -> Level? {
        levels.first { $0.names.contains(service) }
    }
}

extension JSONDocument {
    /// Documents that a journey keeps are stored within another one, which may be nested 64 levels deep.
    private static let maximumKeptDepth = 48

    /// Why a journey cannot keep it; nil when it can.
    package func nestingViolation(at pointer: String = "") -> JSONViolation? {
        if depth <= Self.maximumKeptDepth { return nil }
        return JSONViolation(pointer: pointer, detail: "is nested more than \(Self.maximumKeptDepth) levels deep")
    }

    func checkNesting(at pointer: String) throws(JourneyRefusal) {
        if let violation = nestingViolation(at: pointer) { throw .actionFailed(violation) }
    }
}

extension Journey {
    /// Notes of what the last step wrote when that was, and at which revision of the session.
    package mutating func stampOwned(revision: UInt64, at now: Int64) {
        owned = owned.map { service in
            var service = service
            guard service.revision == 0 else { return service }
            service.revision = revision
            service.updatedAt = now
            if service.createdAt == 0 { service.createdAt = now }
            return service
        }
    }

    /// Gives everything that is owned another revision: the journey takes the place of another one.
    package mutating func raiseOwned(to revision: UInt64) {
        owned = owned.map { service in
            var service = service
            service.revision = revision
            return service
        }
    }

    /// The written state of a service that a coordinator owns; nil when nobody has written it.
    package func owned(_ service: String, by coordinator: Int) -> OwnedService? {
        LivingServices(owned)[.init(coordinator, service)]
    }

    /// Writes a service that a coordinator owns; nil removes it.
    package mutating func setOwned(_ service: String, of coordinator: Int, to document: JSONDocument?) {
        changeOwned { owned in
            let key = OwnedService.Key(coordinator, service)
            if let document { owned.write(document, to: key) } else { owned.remove(key) }
        }
    }

    /// Removes what `isLeaving` says, newest first.
    package mutating func removeOwned(where isLeaving: (OwnedService) -> Bool) {
        changeOwned { $0.removeAll(where: isLeaving) }
    }

    private mutating func changeOwned(_ change: (inout LivingServices<OwnedService>) -> Void) {
        var living = LivingServices(owned)
        owned = []
        change(&living)
        owned = living.instances
    }
}

extension OwnedService: LivingService {
    /// The name of a service that a coordinator owns.
    public struct Key: Equatable {
        let coordinator: Int
        let name: String

        init(_ coordinator: Int, _ name: String) {
            self.coordinator = coordinator
            self.name = name
        }
    }

    /// Which service of which coordinator it is.
    public var service: Key { Key(coordinator, name) }
}

extension LivingServices<OwnedService> {
    /// Writes a service; the first use makes the instance.
    mutating func write(_ document: JSONDocument, to key: OwnedService.Key) {
        if !isLive(key) { add(OwnedService(coordinator: key.coordinator, name: key.name, document: document)) }
        change(key) { instance in
            instance.document = document
            instance.revision = 0
        }
    }
}

extension FlowEngine {
    /// Which services coordinators own, as the journey's topmost coordinator sees it.
    package func owners(in journey: Journey) -> ServiceOwners {
        catalog.owners(of: journey.top?.coordinator ?? ServiceOwners.session, among: journey.coordinators)
    }

    /// The services that the screens on a journey's stack show, those of the top screen first, each with the
    /// coordinator that owns it; nil for the session's.
    package func shownServices(of journey: Journey) -> [(service: String, owner: ServiceOwners.Level?)] {
        var shown: [(service: String, owner: ServiceOwners.Level?)] = []
        for frame in journey.frames.reversed() {
            guard let place = journey.coordinators.place(of: frame.coordinator),
                let screen = catalog.flow(of: journey.coordinators, at: place)?.screen(of: frame)?.screen
            else { continue }
            let owners = catalog.owners(of: frame.coordinator, among: journey.coordinators)
            for service in screen.data {
                let owner = owners.level(of: service)
                let isNew = !shown.contains { $0.service == service && $0.owner?.coordinator == owner?.coordinator }
                if isNew { shown.append((service, owner)) }
            }
        }
        return shown
    }
}
