import Synchronization

/// One run of one factory, and the place where others wait for its end.
///
/// It stands in the locator's table as long as the run lasts, unless it is abandoned: then it ends for those who wait
/// for it and is not kept.
final class Construction: Sendable {
    let registration: Registration
    /// Of the registration, in the table.
    let index: Int
    /// The one whose factory asked for this one. Alive as long as this one runs.
    let outer: Construction?
    /// The thread that the factory runs on.
    let thread: ThreadIdentity

    private struct State {
        var outcome: Result<AnyInstance, ServiceLocatorError>?
        /// Made by the first who waits: most runs have nobody waiting.
        var latch: Latch?
    }
    private let state = Mutex(State())

    init(_ registration: Registration, at index: Int, outer: Construction?, thread: ThreadIdentity) {
        self.registration = registration
        self.index = index
        self.outer = outer
        self.thread = thread
    }

    var key: AnyServiceKey { registration.key }

    /// `nil` as long as the factory runs.
    var outcome: Result<AnyInstance, ServiceLocatorError>? {
        state.withLock { $0.outcome }
    }

    /// Ends the run and lets everybody go on who waits for it.
    func finish(_ outcome: Result<AnyInstance, ServiceLocatorError>) {
        let latch = state.withLock { state in
            state.outcome = outcome
            return state.latch
        }
        latch?.open()
    }

    /// Blocks this thread until the run has ended.
    func wait() -> Result<AnyInstance, ServiceLocatorError> {
        while true {
            let latch: Latch? = state.withLock { state in
                if state.outcome != nil { return nil }
                let latch = state.latch ?? Latch()
                state.latch = latch
                return latch
            }
            latch?.wait()
            if let outcome { return outcome }
        }
    }

    /// The names from `first` down to this run, each of which asked for the next.
    /// When this run was not started through the resolver of `first`, what lies between is not known.
    func names(from first: Construction) -> [String] {
        var names: [String] = []
        var run: Construction? = self
        while let current = run {
            names.append(current.key.name)
            if current === first { return names.reversed() }
            run = current.outer
        }
        return [first.key.name] + names.reversed()
    }
}

/// Any instance in the table of a locator. Always a `Box`, of the type that its key is registered with.
typealias AnyInstance = any AnyObject & Sendable

/// Carries an instance of any type as one pointer.
final class Box<Instance: Sendable>: Sendable {
    let value: Instance

    init(_ value: Instance) { self.value = value }
}

/// Gets an instance back out of its box without asking the runtime for the class of the box, which would be a third of
/// the time that it takes to resolve an instance that lives. For the same reason this is no method of that class.
///
/// The caller has compared `Instance` with the type that the registry, or the supplier, has for this box. That makes the
/// cast safe: boxes are only made by a `Factory<Instance>` of that registration and by `SuppliedService`, which notes
/// the type. Debug builds check the class. The type has no default: inferred from a result that is optional, it would be the
/// optional type.
func unbox<Instance: Sendable>(_ instance: AnyInstance, as type: Instance.Type) -> Instance {
    unsafeDowncast(instance, to: Box<Instance>.self).value
}

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
