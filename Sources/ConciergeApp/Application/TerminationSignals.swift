import Glibc
import HTTPServer

/// SIGTERM and SIGINT as an event to wait for; SIGHUP, SIGUSR1 and SIGUSR2 as nothing at all.
///
/// All are blocked in every thread and taken by one that waits for them, so that no handler runs in the middle of
/// something, and so that it also works as process 1 of a container, which has no default action for them.
package enum TerminationSignals {
    private static let ending = [SIGTERM, SIGINT]
    /// Tools send them to any service, to have it reload or rotate a log. By default they would end the process.
    private static let ignored = [SIGHUP, SIGUSR1, SIGUSR2]

    /// To be called first thing in the program: threads take over what is blocked from the one that starts them.
    package static func block() {
        var signals = set(ending + ignored)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// For a command that may take long and may be ended at any moment: on this thread they do again what they do to
    /// other programs, which ends the process.
    static func unblock() {
        var signals = set(ending + ignored)
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Returns at the first signal that ends the program. A second one ends the process at once, with status 1.
    ///
    /// - Parameter ignoring: called with the name of each of the other signals, the first time that it comes.
    static func first(ignoring: @escaping @Sendable (String) -> Void) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isStarted = DetachedThread.start("signal waiter") {
                var waiting = ending + ignored
                while true {
                    let signal = next(of: waiting)
                    if ending.contains(signal) { break }
                    ignoring(signal == SIGHUP ? "SIGHUP" : signal == SIGUSR1 ? "SIGUSR1" : "SIGUSR2")
                    // Blocked and not waited for, it stays pending.
                    waiting.removeAll { $0 == signal }
                }
                continuation.resume()
                _ = next(of: ending)
                _exit(ExitStatus.failure)
            }
            precondition(isStarted, "no thread to wait for signals")
        }
    }

    private static func next(of signals: [Int32]) -> Int32 {
        var set = set(signals)
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        return signal
    }

    private static func set(_ signals: [Int32]) -> sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in signals { sigaddset(&set, signal) }
        return set
    }
}
