import CPageChecksums
import Glibc

/// A thread for work that blocks on a disk, which must not block the server's workers or Swift's own threads.
enum StoreThread {
    private final class Work {
        let name: String
        let body: @Sendable () -> Void

        init(_ name: String, _ body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// - Parameter name: at most 15 bytes (pthread_setname_np(3)), for `top -H` and `perf`.
    /// - Throws: ``StoreOpeningError/noThread``; then `body` is not run.
    static func start(_ name: String, _ body: @escaping @Sendable () -> Void) throws(StoreOpeningError) {
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
                cpagechecksums_name_thread(work.name)
                work.body()
                return nil
            }, work.toOpaque())
        guard failure == 0 else {
            work.release()
            throw .noThread
        }
        pthread_detach(thread)
    }
}
