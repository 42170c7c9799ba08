import Glibc

/// SIGTERM and SIGINT as an event to wait for.
///
/// Both are blocked in every thread and taken by one that waits for them, so that no handler runs in the middle of
/// something, and so that it also works as process 1 of a container, which has no default action for them.
package enum TerminationSignals {
    /// To be called first thing in the program: threads take over what is blocked from the one that starts them.
    package static func block() {
        var signals = set
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// For a command that may take long and may be ended at any moment: on this thread they do again what they do to
    /// other programs, which ends the process.
    static func unblock() {
        var signals = set
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Returns at the first signal. A second one ends the process at once, with status 1.
    static func first() async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let waiting = Unmanaged.passRetained(Waiting(continuation))
            var thread = pthread_t()
            let failure = pthread_create(
                &thread, nil,
                { argument in
                    guard let argument else { return nil }
                    var signals = TerminationSignals.set
                    var signal: Int32 = 0
                    while sigwait(&signals, &signal) != 0 {}
                    // Balances the retain of `first`.
                    Unmanaged<Waiting>.fromOpaque(argument).takeRetainedValue().continuation.resume()
                    while sigwait(&signals, &signal) != 0 {}
                    _exit(ExitStatus.failure)
                }, waiting.toOpaque())
            precondition(failure == 0, "no thread to wait for signals: \(String(cString: strerror(failure)))")
            pthread_detach(thread)
        }
    }

    private final class Waiting {
        let continuation: CheckedContinuation<Void, Never>
        init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }
}
