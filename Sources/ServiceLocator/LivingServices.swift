/// An instance of a service in its scope: a Swift object of a locator, or the document of a session or a coordinator.
public protocol LivingService {
    /// What names a service in the scope.
    associatedtype Key: Equatable
    /// The service that it is an instance of. A scope has at most one instance of each.
    var service: Key { get }
}

/// The instances that live in one scope, the oldest first.
///
/// Every service has this one life cycle, whatever its instances are: the first use makes an instance, which is the
/// youngest; a change, also to its default, keeps its place; once removed, the next use makes another one. Those that
/// leave together leave newest first.
@frozen
public struct LivingServices<Instance: LivingService> {
    @usableFromInline
    var living: [Instance]

    /// - Parameter instances: the oldest first, at most one of each service.
    @inlinable
    public init(_ instances: [Instance] = []) { living = instances }

    /// The oldest first.
    @inlinable
    public var instances: [Instance] { living }

    /// The living instance of a service.
    @inlinable
    public subscript(service: Instance.Key) -> Instance? { place(of: service).map { living[$0] } }

    /// Whether an instance of a service lives.
    @inlinable
    public func isLive(_ service: Instance.Key) -> Bool { place(of: service) != nil }

    /// Adds the instance that the first use of a service has made.
    ///
    /// - Parameter instance: of a service of which none lives.
    @inlinable
    public mutating func add(_ instance: Instance) {
        // Exactly one place more: most arrays are kept, and one that grows by itself takes more memory.
        living.reserveCapacity(living.count + 1)
        living.append(instance)
    }

    /// Changes the living instance of a service, which keeps its place.
    ///
    /// - Returns: whether there is one.
    @inlinable
    @discardableResult
    public mutating func change(_ service: Instance.Key, _ change: (inout Instance) -> Void) -> Bool {
        guard let place = place(of: service) else { return false }
        change(&living[place])
        return true
    }

    /// Removes the living instance of a service. The next use makes another one.
    @inlinable
    @discardableResult
    public mutating func remove(_ service: Instance.Key) -> Instance? {
        place(of: service).map { living.remove(at: $0) }
    }

    /// Removes the instances for which `isLeaving` returns true.
    ///
    /// - Returns: the newest first.
    @inlinable
    @discardableResult
    public mutating func removeAll(where isLeaving: (Instance) -> Bool = { _ in true }) -> [Instance] {
        guard living.contains(where: isLeaving) else { return [] }
        return living.filter(isLeaving).reversed().compactMap { remove($0.service) }
    }

    @inlinable
    func place(of service: Instance.Key) -> Int? {
        for place in living.indices where living[place].service == service { return place }
        return nil
    }
}

extension LivingServices: Sendable where Instance: Sendable {}
