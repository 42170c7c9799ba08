import Glibc

/// Threads for work that blocks: they come and go, and are neither a worker of the server nor one of Swift's pool.
enum GraphvizThread {
    static func run(_ work: @escaping @Sendable () -> Void) {
        let box = Unmanaged.passRetained(Box(work))
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                // Balances the retain above.
                Unmanaged<Box>.fromOpaque(argument).takeRetainedValue().work()
                return nil
            }, box.toOpaque())
        if failure == 0 {
            pthread_detach(thread)
        } else {
            // Without a thread to be had, it has to be this one: the caller waits for an answer.
            box.takeRetainedValue().work()
        }
    }

    private final class Box: Sendable {
        let work: @Sendable () -> Void

        init(_ work: @escaping @Sendable () -> Void) { self.work = work }
    }
}
