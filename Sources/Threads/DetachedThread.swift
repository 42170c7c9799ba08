import CThreads
import Glibc
import Synchronization

/// A thread for work that blocks, which must not block the server's workers or Swift's own threads.
package enum DetachedThread {
    private final class Work {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
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
    ///   - isEndless: whether `body` never returns.
    /// - Returns: false if no thread can be started; then `body` is not run.
    package static func start(
        _ name: String, isEndless: Bool = false, _ body: @escaping @Sendable () -> Void
    ) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(name, body))
        if !isEndless { count(1) }
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Other threads handle signals.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                do {
                    // Balances the retain of `start`.
                    let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                    cthreads_name(work.name)
                    work.body()
                }
                DetachedThread.count(-1)
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            work.release()
            if !isEndless { count(-1) }
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// The threads that have not ended, but for those that never do.
    private static let ending = Atomic<Int>(0)

    private static func count(_ change: Int) { ending.add(change, ordering: .acquiringAndReleasing) }

    /// Waits until all threads that end have ended: what they hold may have something to close.
    package static func waitForEnds(atMost limit: Duration) {
        let latest = ContinuousClock.now + limit
        while ending.load(ordering: .acquiring) > 0, .now < latest { usleep(1_000) }
    }
}
