import Glibc

/// Runs something that blocks on a thread of its own, so that it takes none from the code under test.
public func blocking<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
    try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Result, any Error>) in
        let work = Unmanaged.passRetained(Work { continuation.resume(with: Swift.Result { try body() }) })
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                argument.map { Unmanaged<Work>.fromOpaque($0).takeRetainedValue().run() }
                return nil
            }, work.toOpaque())
        precondition(failure == 0, "no thread for a test")
        pthread_detach(thread)
    }
}

/// The same for long computations: tests that watch a clock run beside them, and go first.
public func blockingInBackground<Result: Sendable>(
    _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
    try await blocking {
        // On Linux this is the thread's own niceness.
        setpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0, 19)
        return try body()
    }
}

private final class Work {
    let run: () -> Void
    init(_ run: @escaping () -> Void) { self.run = run }
}

/// Whether this process runs under AddressSanitizer or ThreadSanitizer (`make sanitize`). Memory that was freed is then
/// kept for a while, and everything takes many times as long: a test of either says less than usual.
public let isSanitized: Bool = {
    let program = dlopen(nil, RTLD_NOW)
    return dlsym(program, "__asan_init") != nil || dlsym(program, "__tsan_init") != nil
}()
