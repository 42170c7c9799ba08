import Glibc

/// A thread of its own for something that blocks, which would starve the concurrency pool.
package enum DetachedThread {
    private final class Work {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Runs `body` on a new thread, or, when there can be none, right here.
    package static func run(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Balances the retain of `run`.
                Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
                return nil
            }, work.toOpaque())
        if failure == 0 {
            pthread_detach(thread)
        } else {
            work.takeRetainedValue().body()
        }
    }
}
