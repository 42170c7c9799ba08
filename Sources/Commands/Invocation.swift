import Configuration
import JSONDocument

/// A parsed command line. Values of keys are not checked here: a bad value is a problem of the configuration, and is
/// reported with all others.
package struct Invocation: Sendable, Equatable {
    package var command: Command
    package var configurationFile: String?
    package var flags: [FlagValue] = []
    /// `concierge config --sources`.
    package var showsSources = false
    /// `concierge config --reference`: the table of all keys for `config/README.md`.
    package var showsReference = false
    /// The flow of `simulate` and `paths`.
    package var flow: String?
    /// `concierge test DIR`; nil is `tests` in the folder of the flows.
    package var directory: String?
    /// `concierge simulate --script FILE`.
    package var script: String?
    /// `concierge simulate --input JSON`: the input of the flow.
    package var input: String?
    /// `concierge paths --curl`.
    package var showsCurl = false
    /// `concierge check --against URL`: the admin listener of a running server.
    package var against: String?
    /// The action of `concierge store`.
    package var storeAction: StoreAction?
    /// `concierge store backup FILE` and `repair FILE`.
    package var newFile: String?
    /// `concierge store backup --force` and `export --force`: replaces an existing file. `concierge import --replace`:
    /// replaces existing sessions.
    package var replaces = false
    /// `concierge store stats --json`.
    package var showsJSON = false
    /// `concierge import FILE` and `export FILE`.
    package var archive: String?
    /// `concierge import --from LINE`.
    package var from = 1
    /// `concierge import --dry-run`.
    package var isTrial = false
    /// `concierge export --after CURSOR`.
    package var after: String?
    /// `concierge schema KIND`.
    package var schema: FileSchema?
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

    private func checkCompleteness() throws(UsageError) {
        if command == .store { try checkStoreAction() }
        if command == .schema, schema == nil {
            throw UsageError(
                "schema needs a kind of files: \(FileSchema.allCases.map(\.rawValue).joined(separator: ", "))")
        }
        if command.takesArchive, archive == nil { throw UsageError("\(command.rawValue) needs the path of a file") }
        guard command.takesFlow else { return }
        guard flow != nil else { throw UsageError("\(command.rawValue) needs the id of a flow") }
        guard command != .simulate || script != nil else { throw UsageError("simulate needs --script FILE") }
    }

    private mutating func take(_ argument: String, _ rest: inout ArraySlice<String>) throws(UsageError) {
        guard argument.hasPrefix("-"), argument != "-" else {
            if command.takesFlow, flow == nil, !argument.isEmpty, argument != "-" {
                flow = argument
                return
            }
            if command.takesArchive, archive == nil, !argument.isEmpty, argument != "-" {
                archive = argument
                return
            }
            if command == .test, directory == nil, !argument.isEmpty, argument != "-" {
                directory = argument
                return
            }
            if command == .schema, schema == nil, let kind = FileSchema(rawValue: argument) {
                schema = kind
                return
            }
            if command == .store, argument != "-" { return try takeStoreArgument(argument) }
            throw UsageError("\(command.rawValue) takes no argument \(argument.quoted)")
        }
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        let flag = parts[0]
        let attached = parts.count == 2 ? parts[1] : nil
        if command.switches.contains(flag) {
            guard attached == nil else { throw UsageError("\(flag) takes no value") }
            turnOn(flag)
            return
        }
        guard command.takesConfiguration, (Self.valueFlags + command.valueFlags).contains(flag) else {
            throw UsageError(Self.unknown(flag, of: command))
        }
        if let attached {
            try assign(attached, to: flag)
        } else {
            try assign(try Self.next(after: flag, &rest), to: flag)
        }
    }

    private mutating func turnOn(_ flag: String) {
        switch flag {
        case "--sources": showsSources = true
        case "--reference": showsReference = true
        case "--json": showsJSON = true
        case "--force", "--replace": replaces = true
        case "--dry-run": isTrial = true
        default: showsCurl = true
        }
    }

    private mutating func assign(_ value: String, to flag: String) throws(UsageError) {
        switch flag {
        case "--config":
            guard !value.isEmpty else { throw UsageError("--config needs the path of a file") }
            configurationFile = value
        case "--against": against = value
        case "--script": script = value
        case "--input": input = value
        case "--after": after = value
        case "--from":
            guard let line = Int(value), line > 0 else { throw UsageError("--from needs the number of a line") }
            from = line
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
            guard let key = Self.keyFlags[flag] else { return }
            flags.append(FlagValue(flag: flag, path: key, text: value))
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
        let guess = NearestName.of(name, among: Command.allCases.map(\.rawValue)).map { "; did you mean \($0)?" } ?? ""
        throw UsageError("there is no command \(name.quoted); allowed is \(commandList)\(guess)")
    }

    private static func unknown(_ flag: String, of command: Command) -> String {
        let known = (command.takesConfiguration ? valueFlags : []) + command.valueFlags + command.switches
        let sentence = "\(command.rawValue) has no flag \(flag.quoted)"
        if let guess = NearestName.of(flag, among: known + ["--help"]) { return "\(sentence); did you mean \(guess)?" }
        // A key without its own flag.
        let path = NearestName.of(flag, among: ConfigurationKey.all.map(\.path))
        guard command.takesConfiguration, let path else { return sentence }
        return "\(sentence); did you mean --set \(path)=…?"
    }
}
