import Glibc
import Threads

/// SIGTERM and SIGINT as an event to wait for.
///
/// Every thread blocks both, and one thread waits for them. So no signal handler interrupts other code, and both also work
/// for process 1 of a container, for which they have no default action.
package enum TerminationSignals {
    /// Call it first in the program: a thread inherits the blocked signals of the one that starts it.
    package static func block() {
        var signals = set
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// For a command that may take long and can be ended at any time: on this thread both end the process again.
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
