/// Which thread waits for which construction, in a whole family of locators: the topmost one has the graph.
///
/// Before a thread waits it looks here whether the wait could ever end. It could not when the thread that it waits
/// for waits, through any number of others, for a construction of its own. Who adds the last wait of such a ring is
/// given the error; the others wait on and get what comes of it.
struct WaitGraph {
    private struct Wait {
        let target: Construction
        /// The construction in whose factory the waiting thread is.
        let asker: Construction?
    }
    private var waits: [ThreadIdentity: Wait] = [:]

    /// How many threads wait. Tests look at it to know when the threads that they started have arrived.
    var count: Int { waits.count }

    /// Notes that `thread` waits for `target`, or gives the ring of names that this would close, and notes nothing.
    mutating func begin(_ thread: ThreadIdentity, for target: Construction, asker: Construction?) -> [String]? {
        var ring: [Wait] = [Wait(target: target, asker: asker)]
        var next = target
        // A construction that has ended holds nobody up, even if those it woke have not yet taken back their waits.
        while next.outcome == nil {
            if next.thread == thread { return Self.names(of: ring) }
            guard let wait = waits[next.thread] else { break }
            ring.append(wait)
            next = wait.target
        }
        waits[thread] = ring[0]
        return nil
    }

    mutating func end(_ thread: ThreadIdentity) {
        waits[thread] = nil
    }

    /// Each thread of the ring holds what the one before it waits for, and asks from there for the next.
    /// The target of the last is held by the first.
    private static func names(of ring: [Wait]) -> [String] {
        guard var held = ring.last?.target else { return [] }
        var names: [String] = []
        for wait in ring {
            names += wait.asker?.names(from: held) ?? [held.key.name]
            held = wait.target
        }
        return names + [held.key.name]
    }
}
