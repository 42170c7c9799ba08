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
