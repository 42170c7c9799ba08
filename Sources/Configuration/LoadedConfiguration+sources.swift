import JSONDocument

/// A value on the command line: by its own flag, or by `--set key=value`.
package struct FlagValue: Sendable, Equatable {
    /// The flag as the operator writes it: `--port`, `--set`.
    package let flag: String
    /// The path of the key, which need not exist for `--set`.
    package let path: String
    package let text: String

    package init(flag: String, path: String, text: String) {
        self.flag = flag
        self.path = path
        self.text = text
    }
}

/// The values of each source. A later one wins.
extension LoadedConfiguration {
    private mutating func set(_ key: ConfigurationKey, to written: WrittenValue, at origin: ValueOrigin) {
        if key.assign(written, &configuration) {
            origins[key.path] = origin
        } else {
            problems.append(
                ConfigurationProblem(at: origin, pointer: key.pointer, code: "bad_value", key.refusal(written)))
        }
    }

    /// The sentence does not contain the value, which may be a secret under a misspelt name.
    private mutating func reportUnknown(_ path: String, at origin: ValueOrigin, pointer: String) {
        let question = NearestName.question(for: path, among: ConfigurationKey.names)
        problems.append(
            ConfigurationProblem(
                at: origin, pointer: pointer, code: "unknown_key", "there is no key \(path.quoted)\(question)"))
    }

    // MARK: Variables `CONCIERGE_…`

    static let variablePrefix = "CONCIERGE_"
    /// Names the file itself, so it is not a key of the file.
    static let fileVariable = "CONCIERGE_CONFIG"

    private static let keysByVariable = Dictionary(
        uniqueKeysWithValues: ConfigurationKey.all.map { ($0.environmentName, $0) })

    /// Names the server that commands talk to.
    private static let clientVariable = "CONCIERGE_URL"

    /// An empty variable counts as missing, because Compose sets one for `${PORT:-}`. Others may set variables with
    /// this prefix, too: Kubernetes does for a service named `concierge`. So one that is not known is no error.
    mutating func read(environment: [String: String]) {
        // Those that the file has.
        let tasks = configuration.tasks.names
        clientURL = environment[Self.clientVariable].flatMap { $0.isEmpty ? nil : $0 }
        for (name, text) in environment.sorted(by: { $0.key < $1.key })
        where name.hasPrefix(Self.variablePrefix) && name != Self.fileVariable && name != Self.clientVariable {
            if name == "CONCIERGE_PORT", text.hasPrefix("tcp://") {
                problems.append(
                    ConfigurationProblem(
                        .warning, at: .environment(name), code: "foreign_variable",
                        "is not the port but what Kubernetes sets for a service named concierge, and has no effect; "
                            + "enableServiceLinks: false prevents it"))
                continue
            }
            if let key = Self.keysByVariable[name] ?? ConfigurationKey.ofTask(variable: name, known: tasks) {
                if !text.isEmpty { set(key, to: .plain(text), at: .environment(name)) }
                continue
            }
            // Without the prefix, which would make all names similar.
            let known =
                ConfigurationKey.all.map { $0.environmentName.dropFirst(Self.variablePrefix.count) } + ["CONFIG"]
            let guess = NearestName.of(
                String(name.dropFirst(Self.variablePrefix.count)), among: known.map { String($0) })
            problems.append(
                ConfigurationProblem(
                    .warning, at: .environment(name), code: "unknown_key",
                    "there is no key for this variable, so it has no effect"
                        + (guess.map { "; did you mean \(Self.variablePrefix)\($0)?" } ?? "")))
        }
    }

    // MARK: The command line

    /// The last value of a key wins.
    mutating func read(flags: [FlagValue]) {
        for value in flags {
            if let key = ConfigurationKey.named(value.path) {
                set(key, to: .plain(value.text), at: .flag(value.flag))
                if key.path == "admin.host" || key.path == "admin.port" { clientURL = nil }
            } else {
                reportUnknown(value.path, at: .flag(value.flag), pointer: ConfigurationKey.pointer(of: value.path))
            }
        }
    }

    // MARK: The file, an object of keys, grouped in objects

    mutating func read(_ file: JSONFile) {
        guard let members = file.document.members else {
            problems.append(
                ConfigurationProblem(
                    at: file.origin(of: .root), code: "wrong_type",
                    "the file holds \(file.document.kind.phrase); it must hold an object"))
            return
        }
        for (name, value) in members where name != FileSchema.key {
            if ConfigurationKey.groups.contains(name) {
                readGroup(name, value, of: file, at: JSONPointer([name]))
            } else if name == ConfigurationKey.taskGroup, let tasks = value.members {
                for (task, value) in tasks {
                    readGroup("\(name).\(task)", value, of: file, at: JSONPointer([name, task]))
                }
            } else {
                readKey(name, in: "", value, of: file, at: JSONPointer([name]))
            }
        }
    }

    private mutating func readGroup(_ group: String, _ value: JSONDocument, of file: JSONFile, at pointer: JSONPointer)
    {
        guard let members = value.members else {
            problems.append(
                ConfigurationProblem(
                    at: file.origin(of: pointer), pointer: "\(pointer)", code: "wrong_type",
                    "\(group) is \(value.kind.phrase); expected an object with the keys of this group"))
            return
        }
        for (name, value) in members { readKey(name, in: "\(group).", value, of: file, at: pointer.appending(name)) }
    }

    /// - Parameter group: with the dot that follows it; empty for none.
    private mutating func readKey(
        _ name: String, in group: String, _ value: JSONDocument, of file: JSONFile, at pointer: JSONPointer
    ) {
        let origin = file.origin(of: pointer)
        guard !name.contains(".") else {
            problems.append(
                ConfigurationProblem(
                    at: origin, pointer: "\(pointer)", code: "unknown_key",
                    "there is no key \(name.quoted); in a file groups are objects, as in {\"admin\": {\"port\": 8081}}")
            )
            return
        }
        guard let key = ConfigurationKey.named(group + name) else {
            return reportUnknown(group + name, at: origin, pointer: "\(pointer)")
        }
        var written = WrittenValue(value)
        if key.isPath, case .text(let text) = written, !text.isEmpty {
            written = .text(PathText.join(PathText.directory(of: file.path), text))
        }
        set(key, to: written, at: origin)
    }
}

extension WrittenValue {
    init(_ document: JSONDocument) {
        switch document.kind {
        case .null: self = .null
        case .bool: self = document.bool.map { .boolean($0) } ?? .null
        case .integer, .double: self = document.int.map { .integer($0) } ?? .other("the number \(document)")
        case .string: self = document.string.map { .text($0) } ?? .null
        case .array: self = .list((document.elements ?? []).map { WrittenValue($0) })
        case .object: self = .other("an object")
        }
    }
}
