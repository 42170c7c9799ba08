import CMicroHTTPD
import Glibc

/// A thread of its own for something that blocks, which would starve the concurrency pool.
package enum DetachedThread {
    private final class Work {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Runs `body` on a new thread, or, when there can be none, right here.
    package static func run(_ name: String, _ body: @escaping @Sendable () -> Void) {
        if !start(name, body) { body() }
    }

    /// False when there can be no thread; then `body` is not run.
    ///
    /// - Parameter name: at most 15 bytes, for `top -H` and `perf`.
    package static func start(_ name: String, _ body: @escaping @Sendable () -> Void) -> Bool {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(name, body))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Balances the retain of `start`.
                let work = Unmanaged<Work>.fromOpaque(argument).takeRetainedValue()
                cmhd_name_thread(work.name)
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
