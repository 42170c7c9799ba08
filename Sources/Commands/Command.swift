import Configuration
import Glibc

/// The commands of the program.
package enum Command: String, Sendable, CaseIterable {
    case `init`, serve, dev, check, config, schema, types, simulate, test, paths, store
    case session, service, journey, task, user, `import`, export, health, report, version, help

    var summary: String {
        switch self {
        case .`init`: "write a first flow, service, script and configuration"
        case .serve: "run the server until SIGTERM or SIGINT"
        case .dev: "serve for one person's machine, and take files over as they are saved"
        case .check: "print all problems of configuration, service and flow files"
        case .config: "print the effective configuration as JSON, secrets masked"
        case .schema: "print the JSON Schema of a kind of files, for editors"
        case .types: "print types of services, flows and commands, for clients"
        case .simulate: "run a script of events on a flow, without a server"
        case .test: "run the scripts of a folder, and say what differs"
        case .paths: "print scripts that together take every transition of a flow"
        case .store: "maintain the file that sessions are stored in"
        case .session: "list, show and end sessions of a running server"
        case .service: "show and mend what sessions have entered"
        case .journey: "find journeys, show them, and move them on"
        case .task: "list tasks of back ends, and retry or end them"
        case .user: "export or erase the data of a person"
        case .import: "send an export to a running server, of any size"
        case .export: "write everything that a running server has to a file"
        case .health: "ask the running server whether it is ready"
        case .report: "collect what support needs, without secrets and data of persons"
        case .version: "print name and version"
        case .help: "explain a command"
        }
    }

    /// What follows it, for messages; nil when nothing does.
    var argument: (name: String, isNeeded: Bool)? {
        switch self {
        case .simulate, .paths: ("the id of a flow", true)
        case .import, .export: ("the path of a file", true)
        case .schema: ("a kind of files: \(FileSchema.allCases.map(\.rawValue).joined(separator: ", "))", true)
        case .types: ("a language: \(ClientLanguage.allCases.map(\.rawValue).joined(separator: ", "))", true)
        case .test, .`init`: ("a folder", false)
        case .report: ("the path of a file", false)
        case .serve, .dev, .check, .config, .store, .health, .version, .help: nil
        case .session, .service, .journey, .task, .user: nil
        }
    }

    /// Whether it is followed by an action of ``AdminCall``.
    var isForOperators: Bool {
        switch self {
        case .session, .service, .journey, .task, .user: true
        default: false
        }
    }

    /// Whether it reads the configuration, and so takes the flags that change it.
    var takesConfiguration: Bool { ![.`init`, .schema, .version, .help].contains(self) }

    /// A flag that only some commands have.
    struct Flag {
        let name: String
        /// The name of its value for people; nil when it takes none.
        var value: String?
        let meaning: String
    }

    /// Its own flags.
    var flags: [Flag] {
        let key = Flag(
            name: "--admin-key-file", value: "FILE",
            meaning: "the key of the server; default admin.key of this configuration")
        return switch self {
        case .dev: [Flag(name: "--tasks", value: "FILE", meaning: "a script whose steps say how tasks end")]
        case .config:
            [
                Flag(name: "--sources", meaning: "also where each value comes from"),
                Flag(name: "--reference", meaning: "the table of all keys as Markdown instead"),
            ]
        case .check:
            [
                Flag(
                    name: "--against", value: "URL",
                    meaning: "also report what these flows would do to the journeys of a running server"), key,
            ]
        case .simulate:
            [
                Flag(name: "--script", value: "FILE", meaning: "the steps to take"),
                Flag(name: "--input", value: "JSON", meaning: "what the flow is started with; default {}"),
            ]
        case .paths: [Flag(name: "--curl", meaning: "commands for a running server instead of scripts")]
        case .store:
            [
                Flag(name: "--json", meaning: "with stats: for programs"),
                Flag(
                    name: "--force",
                    meaning: "with backup and repair: replace FILE; with restore: also take a damaged one"),
                Flag(name: key.name, value: key.value, meaning: "with vacuum: \(key.meaning)"),
            ]
        case .import:
            [
                Flag(name: "--from", value: "LINE", meaning: "begin with this line of FILE"),
                Flag(
                    name: "--replace", meaning: "replace sessions that exist; without it they stay as they are"),
                Flag(name: "--dry-run", meaning: "report what would happen and change nothing"), key,
            ]
        case .export:
            [
                Flag(name: "--after", value: "CURSOR", meaning: "begin after the session with this cursor"),
                Flag(name: "--force", meaning: "replace FILE if it exists"), key,
            ]
        case .session, .service, .journey, .task, .user: AdminCall.flags(of: self) + [key]
        case .report:
            [
                Flag(name: "--log", value: "FILE", meaning: "also the last lines of this log, without names and ids"),
                key,
            ]
        case .serve, .`init`, .schema, .types, .test, .health, .version, .help: []
        }
    }
}

/// Where a command writes. Tests collect the text.
package struct ProgramOutput: Sendable {
    private let writeResult: @Sendable (String) -> Void
    private let writeComplaint: @Sendable (String) -> Void
    /// Whether a person reads the results.
    let isTerminal: Bool

    package init(
        result: @escaping @Sendable (String) -> Void, complaint: @escaping @Sendable (String) -> Void,
        isTerminal: Bool = false
    ) {
        writeResult = result
        writeComplaint = complaint
        self.isTerminal = isTerminal
    }

    /// Standard output and standard error of the process.
    package static let standard = ProgramOutput(
        result: { write($0, to: STDOUT_FILENO) }, complaint: { write($0, to: STDERR_FILENO) },
        isTerminal: isatty(STDOUT_FILENO) == 1)

    /// Asks the person at the terminal; nil when there is none.
    func ask(_ question: String) -> Bool? {
        guard isTerminal, isatty(STDIN_FILENO) == 1 else { return nil }
        complaint("\(question) [y/N] ")
        let answer = readLine()?.lowercased()
        return answer == "y" || answer == "yes"
    }

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

/// Why a command line, or a file that it names, is not valid, as one sentence.
package struct UsageError: Error, Equatable, CustomStringConvertible {
    package let description: String

    package init(_ sentence: String) {
        description = sentence
    }
}

/// Why a command could not do what it was told, as one sentence.
struct CommandFailure: Error, CustomStringConvertible {
    let description: String

    init(_ sentence: String) {
        description = sentence
    }
}
