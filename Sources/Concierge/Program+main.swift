import Commands
import ConciergeApp
import Glibc
import Operations
import Sessions
import Threads

extension Program {
    /// Runs the program with the arguments, environment and streams of this process, and ends the process with its exit
    /// status.
    ///
    /// It is not an asynchronous `main`: that would leave the main thread to the dispatch library, which unblocks all
    /// signals there, and SIGTERM would end the process in the middle of its responses.
    static func main(adding added: SwiftServices) -> Never {
        AddressSpace.checkForProgram()
        TerminationSignals.block()
        Task.detached {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let status = await run(arguments: arguments, environment: environmentOfProcess(), adding: added) { loaded in
                await Application.run(loaded)
            }
            DetachedThread.waitForEnds(atMost: .seconds(1))
            exit(status)
        }
        // This thread has nothing left to do. With the signals blocked, `pause` does not return.
        while true { pause() }
    }

    private static func environmentOfProcess() -> [String: String] {
        var variables: [String: String] = [:]
        // `environ` is NULL-terminated, and nothing in this program changes it.
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }
}
