import Glibc
import Synchronization
import Threads

/// One run of one factory, for which other threads can wait.
///
/// It is in the locator's table while the factory runs. When it is removed from there, the waiting threads still get
/// the instance, but the locator does not keep it.
final class Construction: Sendable {
    let registration: Registration
    /// The index of the registration.
    let index: Int
    /// The construction whose factory resolved this one; it lasts at least as long.
    let outer: Construction?
    /// The thread that the factory runs on.
    let thread: ThreadIdentity
    /// Whether the instance lives already and gets its object.
    let wakes: Bool

    private struct State {
        var outcome: Result<AnyInstance, ServiceLocatorError>?
        /// The first waiting thread makes it: for most runs no thread waits.
        var latch: Latch?
    }
    private let state = Mutex(State())

    init(
        _ registration: Registration, at index: Int, outer: Construction?, thread: ThreadIdentity, wakes: Bool
    ) {
        self.wakes = wakes
        self.registration = registration
        self.index = index
        self.outer = outer
        self.thread = thread
    }

    var key: AnyServiceKey { registration.key }

    /// `nil` while the factory runs.
    var outcome: Result<AnyInstance, ServiceLocatorError>? {
        state.withLock { $0.outcome }
    }

    /// Ends the run and wakes all threads that wait for it.
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

    /// The names from `first` down to this run, each of which resolved the next. When this run was not started through
    /// the resolver of `first`, the names between are not known.
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

/// Any instance in the table of a locator: always a `Box` of the type that its key is registered with.
typealias AnyInstance = any AnyObject & Sendable

/// Carries an instance of any type as one pointer.
final class Box<Instance: Sendable>: Sendable {
    let value: Instance

    init(_ value: Instance) { self.value = value }
}

/// Takes an instance out of its box without a cast at run time, which would be a third of the time of a `resolve`. For
/// the same reason this is not a method of the box.
///
/// The caller has compared `Instance` with the type in the registry or of the supplied service. That makes the cast
/// safe: only a `Factory<Instance>` of that registration and `SuppliedService` make boxes. Debug builds check the
/// class. The type has no default, because for an optional result it would be inferred as the optional type.
func unbox<Instance: Sendable>(_ instance: AnyInstance, as type: Instance.Type) -> Instance {
    unsafeDowncast(instance, to: Box<Instance>.self).value
}

/// Which thread waits for which construction, in a tree of locators: the topmost one has the graph.
///
/// A thread checks here before it waits. The wait would never end when the other thread waits, through any number of
/// others, for a construction of this thread. The thread that would close such a ring gets an error; the others go on
/// waiting and get the result.
struct WaitGraph {
    private struct Wait {
        let target: Construction
        /// The construction in whose factory the waiting thread is.
        let asker: Construction?
    }
    private var waits: [ThreadIdentity: Wait] = [:]

    /// The number of waiting threads; tests read it to know when their threads wait.
    var count: Int { waits.count }

    /// Records that `thread` waits for `target`. When that would close a ring, returns its names and records nothing.
    mutating func begin(_ thread: ThreadIdentity, for target: Construction, asker: Construction?) -> [String]? {
        var ring: [Wait] = [Wait(target: target, asker: asker)]
        var next = target
        // No thread waits for a construction that has ended, even if its threads have not removed their waits yet.
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

    /// Each thread of the ring makes what the one before it waits for, and the first makes the target of the last.
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

/// Threads wait until the latch is opened; afterwards they do not wait any more.
///
/// `@unchecked Sendable`: `isOpen` is only touched with the monitor's lock held.
final class Latch: @unchecked Sendable {
    private let monitor = Monitor()
    private var isOpen = false

    func open() {
        monitor.withLock { isOpen = true }
        monitor.broadcast()
    }

    func wait() {
        monitor.withLock {
            // A loop, because POSIX allows spurious wakeups.
            while !isOpen { monitor.wait() }
        }
    }
}

/// Identifies a thread while it runs: a factory resolves its needs on the thread that called it.
struct ThreadIdentity: Hashable, Sendable {
    private let handle = UInt(pthread_self())

    static var current: ThreadIdentity { ThreadIdentity() }
}
