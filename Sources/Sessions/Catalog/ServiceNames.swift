import Synchronization

/// The names of all services that this process knows, and their places in the documents of sessions: of those that are
/// declared, and of those that only the store has.
///
/// A place belongs to one name for good. So a document in memory keeps its meaning when a reload declares other
/// services, and a service that is declared again finds what was written of it.
package final class ServiceNames: Sendable, ExpressibleByArrayLiteral {
    private struct Known {
        var names: [String] = []
        var places: [String: UInt16] = [:]
        /// The living instances of each.
        var live: [LiveCount] = []
    }

    private let known = Mutex(Known())

    /// - Parameter names: get the first places, in their order.
    package init(_ names: [String] = []) {
        for name in names { _ = self[name] }
    }

    package convenience init(arrayLiteral names: String...) { self.init(names) }

    package subscript(place: UInt16) -> String { known.withLock { $0.names[Int(place)] } }

    /// The place of a name: the next one for a name that is new.
    package subscript(name: String) -> UInt16 {
        known.withLock { known in
            if let place = known.places[name] { return place }
            // A document keeps its service's place in 16 bits.
            precondition(known.names.count < Int(UInt16.max), "a process knows at most 65,535 services")
            let place = UInt16(known.names.count)
            known.names.append(name)
            known.places[name] = place
            known.live.append(LiveCount())
            return place
        }
    }

    func live(_ place: UInt16) -> LiveCount { known.withLock { $0.live[Int(place)] } }
}

/// Living instances of a service in all sessions.
final class LiveCount: Sendable {
    private let count = Atomic<Int>(0)

    var value: Int { count.load(ordering: .relaxed) }

    func add(_ difference: Int) {
        if difference != 0 { count.wrappingAdd(difference, ordering: .relaxed) }
    }
}
