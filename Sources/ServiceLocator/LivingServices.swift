/// An instance of a service in its scope: a Swift object of a locator, or the document of a session or a coordinator.
package protocol LivingService {
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
package struct LivingServices<Instance: LivingService> {
    /// The oldest first.
    package private(set) var instances: [Instance]

    /// - Parameter instances: the oldest first, at most one of each service.
    @inlinable
    package init(_ instances: [Instance] = []) { self.instances = instances }

    /// The living instance of a service.
    @inlinable
    package subscript(service: Instance.Key) -> Instance? { place(of: service).map { instances[$0] } }

    @inlinable
    package func isLive(_ service: Instance.Key) -> Bool { place(of: service) != nil }

    /// Adds the instance that the first use of a service has made.
    ///
    /// - Parameter instance: of a service of which none lives.
    @inlinable
    package mutating func add(_ instance: Instance) {
        // Exactly one place more: most arrays are kept, and one that grows by itself takes more memory.
        instances.reserveCapacity(instances.count + 1)
        instances.append(instance)
    }

    /// Changes the living instance of a service, which keeps its place.
    ///
    /// - Returns: whether there is one.
    @inlinable
    @discardableResult
    package mutating func change(_ service: Instance.Key, _ change: (inout Instance) -> Void) -> Bool {
        guard let place = place(of: service) else { return false }
        change(&instances[place])
        return true
    }

    /// Removes the living instance of a service. The next use makes another one.
    @inlinable
    @discardableResult
    package mutating func remove(_ service: Instance.Key) -> Instance? {
        place(of: service).map { instances.remove(at: $0) }
    }

    /// Removes the instances for which `isLeaving` returns true.
    ///
    /// - Returns: the newest first.
    @inlinable
    @discardableResult
    package mutating func removeAll(where isLeaving: (Instance) -> Bool = { _ in true }) -> [Instance] {
        guard instances.contains(where: isLeaving) else { return [] }
        return instances.filter(isLeaving).reversed().compactMap { remove($0.service) }
    }

    @inlinable
    func place(of service: Instance.Key) -> Int? {
        for place in instances.indices where instances[place].service == service { return place }
        return nil
    }
}

extension LivingServices: Sendable where Instance: Sendable {}
