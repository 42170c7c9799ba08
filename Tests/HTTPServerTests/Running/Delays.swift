import Glibc
import Synchronization

/// Resumes whoever waits from a thread that is neither a worker's nor one of the concurrency pool, after delays of
/// microseconds: around the moment at which a connection is being suspended.
final class Delays: Sendable {
    static let shared = Delays()

    private let waiting = Mutex<[(microseconds: Int, continuation: CheckedContinuation<Void, Never>)]>([])

    private init() {
        var thread = pthread_t()
        let failure = pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Delays>.fromOpaque(argument).takeUnretainedValue().run() }
                return nil
            }, Unmanaged.passUnretained(self).toOpaque())
        precondition(failure == 0, "no thread for delays")
        pthread_detach(thread)
    }

    func wait(microseconds: Int) async {
        await withCheckedContinuation { continuation in
            waiting.withLock { $0.append((microseconds, continuation)) }
        }
    }

    private func run() -> Never {
        while true {
            let due = waiting.withLock { waiting in
                defer { waiting = [] }
                return waiting.sorted { $0.microseconds < $1.microseconds }
            }
            var passed = 0
            for (microseconds, continuation) in due {
                if microseconds > passed { usleep(UInt32(microseconds - passed)) }
                passed = max(passed, microseconds)
                continuation.resume()
            }
            if due.isEmpty { usleep(20) }
        }
    }
}
