import Glibc

extension Program {
    /// The program on the arguments, environment and streams of this process, which ends with its exit status.
    ///
    /// It is not an asynchronous `main`: that would leave the main thread to the dispatch library, which lets all
    /// signals through there, and then SIGTERM would end the process in the middle of its answers.
    package static func main() -> Never {
        TerminationSignals.block()
        Task.detached {
            let arguments = Array(CommandLine.arguments.dropFirst())
            let status = await run(arguments: arguments, environment: environmentOfProcess()) { loaded in
                await Application.run(loaded)
            }
            exit(status)
        }
        // Nothing is left for this thread to do; with the signals blocked this does not return.
        while true { pause() }
    }

    private static func environmentOfProcess() -> [String: String] {
        var variables: [String: String] = [:]
        // `environ` is NULL-terminated; nothing in this program changes it while it is read.
        var entry: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?> = environ
        while let text = entry.pointee {
            let parts = String(cString: text).split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            if parts.count == 2 { variables[String(parts[0])] = String(parts[1]) }
            entry += 1
        }
        return variables
    }
}
