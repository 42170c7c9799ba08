import Glibc
import Threads

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
            let isStarted = DetachedThread.start("signal waiter") {
                var signals = TerminationSignals.set
                var signal: Int32 = 0
                while sigwait(&signals, &signal) != 0 {}
                continuation.resume()
                while sigwait(&signals, &signal) != 0 {}
                _exit(ExitStatus.failure)
            }
            precondition(isStarted, "no thread to wait for signals")
        }
    }

    private static var set: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGTERM)
        sigaddset(&signals, SIGINT)
        return signals
    }
}
