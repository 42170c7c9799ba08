import Glibc

extension Program {
    /// The program on the arguments, environment and streams of this process.
    package static func main() async -> Int32 {
        await run(arguments: Array(CommandLine.arguments.dropFirst()), environment: environmentOfProcess()) { loaded in
            await Application.run(loaded)
        }
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
