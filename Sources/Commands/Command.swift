import Glibc

/// The commands of the program.
package enum Command: String, Sendable, CaseIterable {
    case serve, check, config, schema, simulate, test, paths, store, `import`, export, health, version, help

    var summary: String {
        switch self {
        case .serve: "run the server until SIGTERM or SIGINT"
        case .check: "print all problems of configuration, service and flow files"
        case .config: "print the effective configuration as JSON, secrets masked"
        case .schema: "print the JSON Schema of a kind of files, for editors"
        case .simulate: "run a script of events on a flow, without a server"
        case .test: "run the scripts of a folder, and say what differs"
        case .paths: "print scripts that together take every transition of a flow"
        case .store: "maintain the file that sessions are stored in"
        case .import: "send an export to a running server, of any size"
        case .export: "write everything that a running server has to a file"
        case .health: "ask the running server whether it is ready"
        case .version: "print name and version"
        case .help: "explain a command"
        }
    }

    /// Whether it reads the configuration, and so takes the flags that change it.
    var takesConfiguration: Bool { self != .schema && self != .version && self != .help }

    /// Whether its argument is a flow.
    var takesFlow: Bool { self == .simulate || self == .paths }

    /// Whether its argument is an archive.
    var takesArchive: Bool { self == .import || self == .export }

    /// Its own flags with a value.
    var valueFlags: [String] {
        switch self {
        case .check: ["--against", "--admin-key-file"]
        case .store: ["--admin-key-file"]
        case .simulate: ["--script", "--input"]
        case .import: ["--from", "--admin-key-file"]
        case .export: ["--after", "--admin-key-file"]
        default: []
        }
    }

    /// Its own flags without a value.
    var switches: [String] {
        switch self {
        case .config: ["--sources", "--reference"]
        case .paths: ["--curl"]
        case .store: ["--json", "--force"]
        case .import: ["--replace", "--dry-run"]
        case .export: ["--force"]
        default: []
        }
    }
}

/// Where a command writes. Tests collect the text.
package struct ProgramOutput: Sendable {
    private let writeResult: @Sendable (String) -> Void
    private let writeComplaint: @Sendable (String) -> Void

    package init(result: @escaping @Sendable (String) -> Void, complaint: @escaping @Sendable (String) -> Void) {
        writeResult = result
        writeComplaint = complaint
    }

    /// Standard output and standard error of the process.
    package static let standard = ProgramOutput(
        result: { write($0, to: STDOUT_FILENO) }, complaint: { write($0, to: STDERR_FILENO) })

    /// Writes a result.
    package func result(_ text: String) { writeResult(text) }

    /// Writes an error message.
    package func complaint(_ text: String) { writeComplaint(text) }

    /// Unbuffered, so that nothing is lost when the process ends.
    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = Glibc.write(descriptor, start, rest.count)
                if count < 0 && errno == EINTR { continue }
                // The reader has gone, so the error cannot be reported.
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}

/// Why a command line is not valid, as one sentence.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    package let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
