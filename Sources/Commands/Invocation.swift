import Configuration
import JSONDocument

/// A parsed command line. Values of keys are not checked here: a bad value is a problem of the configuration, and is
/// reported with all others.
package struct Invocation: Sendable {
    package var command: Command
    package var configurationFile: String?
    package var flags: [FlagValue] = []
    /// What follows the command: a flow, a file, a folder, a kind of files.
    var argument: String?
    /// The action of `concierge store`.
    package var storeAction: StoreAction?
    /// The action of a command for operators and its arguments, and the call that they mean.
    private(set) var words: [String] = []
    private(set) var adminCall: AdminCall?
    /// The values of the command's own flags, by their names; empty for a flag that takes none.
    private var given: [String: String] = [:]
    /// The topic of `help`; `nil` for the whole program.
    package var topic: Command?

    /// - Parameter arguments: without the program's name.
    /// - Throws: ``UsageError`` for the first mistake, because what follows it cannot be interpreted.
    package init(_ arguments: [String]) throws(UsageError) {
        guard let first = arguments.first else {
            throw UsageError("no command is given; allowed is \(Self.commandList)")
        }
        switch first {
        case "--help", "-h": command = .help
        case "--version": command = .version
        default: command = try Self.command(first)
        }
        var rest = arguments.dropFirst()
        if command == .help {
            if let name = rest.first, !name.hasPrefix("-") {
                topic = try Self.command(name)
                rest = rest.dropFirst()
            }
        }
        while let argument = rest.popFirst() {
            if argument == "--help" || argument == "-h" {
                self = Invocation(helpFor: command)
                return
            }
            try take(argument, &rest)
        }
        try checkCompleteness()
    }

    private init(helpFor topic: Command) {
        command = .help
        self.topic = topic
    }

    /// The value of one of the command's own flags; nil without it.
    subscript(flag: String) -> String? { given[flag] }

    private mutating func checkCompleteness() throws(UsageError) {
        if command == .store { try checkStoreAction() }
        if command.isForOperators { adminCall = try AdminCall(command, words, flags: given.keys) }
        if let needed = command.argument, needed.isNeeded, argument == nil {
            throw UsageError("\(command.rawValue) needs \(needed.name)")
        }
        if command == .simulate, self["--script"] == nil { throw UsageError("simulate needs --script FILE") }
    }

    private mutating func take(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        guard argument.hasPrefix("-"), argument != "-" else {
            if command == .store, argument != "-" { return try takeStoreArgument(argument) }
            if command.isForOperators { return words.append(argument) }
            let isKnown =
                switch command {
                case .schema: FileSchema(rawValue: argument) != nil
                case .types: ClientLanguage(rawValue: argument) != nil
                default: true
                }
            guard command.argument != nil, self.argument == nil, isKnown, !argument.isEmpty, argument != "-" else {
                throw UsageError("\(command.rawValue) takes no argument \(argument.quoted)")
            }
            self.argument = argument
            return
        }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let flag = parts[0]
        let attached = parts.count == 2 ? parts[1] : nil
        let own = command.flags.first { $0.name == flag }
        if own != nil, own?.value == nil {
            guard attached == nil else { throw UsageError("\(flag) takes no value") }
            given[flag] = ""
            return
        }
        guard own != nil || (command.takesConfiguration && Self.valueFlags.contains(flag)) else {
            throw UsageError(Self.unknown(flag, of: command))
        }
        if let attached {
            try assign(attached, to: flag)
        } else {
            try assign(try Self.next(after: flag, &rest), to: flag)
        }
    }

    private mutating func assign(_ value: String, to flag: String) throws(UsageError) {
        switch flag {
        case "--config":
            guard !value.isEmpty else { throw UsageError("--config needs the path of a file") }
            configurationFile = value
        case "--admin-key-file":
            // The key of the other server, in place of the configuration's own.
            flags.append(FlagValue(flag: flag, path: "admin.key_file", text: value))
        case "--set":
            let parts = value.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            guard parts.count == 2, !parts[0].isEmpty else {
                // The text may be a secret, so it is not repeated.
                throw UsageError("--set needs key=value, such as --set limits.body_bytes=64KiB")
            }
            flags.append(FlagValue(flag: flag, path: parts[0], text: parts[1]))
        default:
            if let key = Self.keyFlags[flag] {
                flags.append(FlagValue(flag: flag, path: key, text: value))
                return
            }
            let isCount = Int(value).map { $0 > 0 } ?? false
            if flag == "--from", !isCount { throw UsageError("--from needs the number of a line") }
            if flag == "--limit", !isCount { throw UsageError("--limit needs a positive integer") }
            given[flag] = value
        }
    }

    /// A value that begins with two hyphens is taken for the next flag: a forgotten value is far more likely.
    private static func next(after flag: String, _ rest: inout ArraySlice<String>) throws(UsageError) -> String {
        guard let value = rest.first, !value.hasPrefix("--") else { throw UsageError("\(flag) needs a value") }
        rest = rest.dropFirst()
        return value
    }

    private static let keyFlags: [String: String] = {
        let flags = ConfigurationKey.all.compactMap { key in key.flagName.map { ($0, key.path) } }
        return Dictionary(uniqueKeysWithValues: flags)
    }()

    private static let valueFlags = ["--config", "--set"] + ConfigurationKey.all.compactMap(\.flagName)

    private static var commandList: String {
        "one of " + Command.allCases.map(\.rawValue).joined(separator: ", ")
    }

    private static func command(_ name: String) throws(UsageError) -> Command {
        if let command = Command(rawValue: name) { return command }
        let question = NearestName.question(for: name, among: Command.allCases.map(\.rawValue))
        throw UsageError("there is no command \(name.quoted); allowed is \(commandList)\(question)")
    }

    private static func unknown(_ flag: String, of command: Command) -> String {
        let known = (command.takesConfiguration ? valueFlags : []) + command.flags.map(\.name)
        let sentence = "\(command.rawValue) has no flag \(flag.quoted)"
        if let guess = NearestName.of(flag, among: known + ["--help"]) { return "\(sentence); did you mean \(guess)?" }
        // A key without its own flag.
        let path = NearestName.of(flag, among: ConfigurationKey.all.map(\.path))
        guard command.takesConfiguration, let path else { return sentence }
        return "\(sentence); did you mean --set \(path)=…?"
    }
}
