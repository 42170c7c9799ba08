import CThreads
import Glibc

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
    /// - Parameter name: at most 15 bytes, for `top -H` and `perf`.
    /// - Returns: false if no thread can be started; then `body` is not run.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(name, body))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Other threads handle signals.
                var signals = sigset_t()
                sigfillset(&signals)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                // Balances the retain of `start`.
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                cthreads_name(work.name)
                work.body()
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            work.release()
            return false
        }
        pthread_detach(thread)
        return true
    }
}
