import Glibc

extension Program {
    /// The program on the arguments, environment and streams of this process.
    package static func main() async -> Int32 {
        await run(arguments: Array(CommandLine.arguments.dropFirst()), environment: environmentOfProcess()) { loaded in
            await serve(loaded)
        }
    }

    /// Where the composition root is hooked in: `Application` is made from the configuration and runs until a signal.
    private static func serve(_ loaded: LoadedConfiguration) async -> Int32 {
        ProgramOutput.standard.complaint("concierge: this build has no server yet\n")
        return ExitStatus.failure
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
