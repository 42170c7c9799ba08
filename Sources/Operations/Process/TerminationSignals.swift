import Glibc
import Threads

/// Waits for SIGTERM, SIGINT and SIGQUIT, reports SIGHUP, and ignores other signals that would end the process.
///
/// Every thread blocks all of them, and one thread waits for them. So no signal handler interrupts other code, and they
/// also work in process 1 of a container, which has no default actions.
package enum TerminationSignals {
    private static let ending = [SIGTERM, SIGINT, SIGQUIT]
    /// Tools send them to make a service reload or rotate its log. By default they would end the process.
    private static let ignored = [SIGUSR1, SIGUSR2, SIGALRM]
    private static let names = [SIGUSR1: "SIGUSR1", SIGUSR2: "SIGUSR2", SIGALRM: "SIGALRM"]

    /// Call it first in the program: threads inherit the blocked signals of the thread that starts them.
    package static func block() {
        var signals = set(ending + [SIGHUP] + ignored)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }

    /// For a command that may take long and can be ended at any time: the ending signals end the process again, as does
    /// a terminal that is closed.
    package static func unblock() {
        var signals = set(ending + [SIGHUP])
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }

    /// Returns at the first signal that ends the program. A second one ends the process at once, with status 1.
    ///
    /// - Parameters:
    ///   - reload: called at each SIGHUP; nil for a program of a terminal, which ends with that.
    ///   - ignoring: called with the name of each other signal, the first time that it arrives.
    package static func first(
        reload: (@Sendable () -> Void)?, ignoring: @escaping @Sendable (String) -> Void
    ) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let isStarted = DetachedThread.start("signal waiter", isAwaited: false) {
                var waiting = ending + [SIGHUP] + ignored
                while true {
                    let signal = next(of: waiting)
                    if ending.contains(signal) { break }
                    if signal == SIGHUP {
                        guard let reload else { break }
                        reload()
                        continue
                    }
                    ignoring(names[signal] ?? "\(signal)")
                    // A signal that is blocked and not waited for stays pending.
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
