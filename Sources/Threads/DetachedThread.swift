import CThreads
import Glibc
import Synchronization

/// A thread for work that blocks, which must not block the server's workers or Swift's own threads.
package enum DetachedThread {
    private final class Work {
        let name: String
        let isAwaited: Bool
        let body: @Sendable () -> Void

        init(_ name: String, isAwaited: Bool, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.isAwaited = isAwaited
            self.body = body
        }
    }

    /// Runs `body` on a new thread or, if none can be started, on the calling one.
    package static func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
        if !start(name, body) { body() }
    }

    /// Runs `body` on a new thread, in which all signals are blocked.
    ///
    /// - Parameters:
    ///   - name: at most 15 bytes, for `top -H` and `perf`.
    ///   - isAwaited: whether ``waitForEnds(atMost:)`` waits for it.
    /// - Returns: false if no thread can be started; then `body` is not run.
    package static func start(
        _ name: String, isAwaited: Bool = true, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(name, isAwaited: isAwaited, body))
        if isAwaited { count(1) }
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Other threads handle signals.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                let isAwaited: Bool
                do {
                    // Balances the retain of `start`.
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    isAwaited = work.isAwaited
                    cthreads_name(work.name)
                    work.body()
                }
                if isAwaited { DetachedThread.count(-1) }
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            work.release()
            if isAwaited { count(-1) }
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// The awaited threads that have not ended.
    private static let ending = Atomic<Int>(0)

    private static func count(_ change: Int) { ending.add(change, ordering: .acquiringAndReleasing) }

    /// Waits until the awaited threads have ended, so that what they hold is released.
    package static func waitForEnds(atMost limit: Duration) {
        let latest = ContinuousClock.now + limit
        while ending.load(ordering: .acquiring) > 0, .now < latest { usleep(1_000) }
    }
}

/// For how long the kernel lets a thread run before others that want its processor.
package enum ThreadSlice {
    /// For a thread that serves many clients: it runs as soon as it wakes, and briefly.
    package static func makeBrief() { cthreads_set_slice(100_000) }

    /// For a thread that parses a large body or validates a large document: a brief one takes the processor from it.
    package static func makeLong() { cthreads_set_slice(100_000_000) }
}
