import JSONDocument

/// A key of the configuration: its name, its values, its meaning and its place in ``Configuration``.
package struct ConfigurationKey: Sendable {
    /// Its path in the file, joined by dots: `admin.port`.
    package let path: String
    package let typeName: String
    /// The allowed values, for the reference.
    package let allowed: String
    /// The default in the reference: JSON, or a few words if it depends on the machine.
    package let defaultText: String
    package let meaning: String
    /// The JSON Schema (draft 7) of its values in a file, without its meaning.
    let schema: JSONDocument
    package let isSecret: Bool
    /// Whether its value is a path, which is relative to the file that contains it.
    let isPath: Bool
    private let hasFlag: Bool

    /// Sets a written value; returns false and changes nothing when it is not allowed.
    let assign: @Sendable (WrittenValue, inout Configuration) -> Bool
    /// The value as JSON text, masked when it is secret.
    package let show: @Sendable (Configuration) -> String
    /// Whether two configurations have the same value.
    package let isSame: @Sendable (Configuration, Configuration) -> Bool
    /// Takes the value of another configuration.
    package let take: @Sendable (Configuration, inout Configuration) -> Void
    /// The sentence about a value that is not allowed. It does not contain a secret value.
    let refusal: @Sendable (WrittenValue) -> String

    /// - Parameters:
    ///   - flag: whether it has its own flag. Every key can be set by `--set key=value`.
    ///   - defaultText: replaces the initial value if that depends on the machine.
    init<Value: Equatable>(
        _ path: String, _ setting: Setting<Value>, _ place: any WritableKeyPath<Configuration, Value> & Sendable,
        flag: Bool = false, defaultText: String? = nil, _ meaning: String
    ) {
        self.path = path
        self.typeName = setting.name
        self.allowed = setting.allowed
        self.defaultText = defaultText ?? "`\(setting.show(Self.defaults[keyPath: place]))`"
        self.meaning = meaning
        self.schema = setting.schema
        self.isSecret = setting.isSecret
        self.isPath = setting.isPath
        self.hasFlag = flag
        self.assign = { written, configuration in
            guard let value = setting.read(written) else { return false }
            configuration[keyPath: place] = value
            return true
        }
        self.show = { setting.show($0[keyPath: place]) }
        self.isSame = { $0[keyPath: place] == $1[keyPath: place] }
        self.take = { $1[keyPath: place] = $0[keyPath: place] }
        self.refusal = { setting.refusal(of: $0, as: path) }
    }

    private static let defaults = Configuration()

    /// `CONCIERGE_ADMIN_PORT` for `admin.port`.
    package var environmentName: String {
        // Names of tasks may have hyphens, which no variable has.
        "CONCIERGE_" + path.uppercased().map { $0 == "." || $0 == "-" ? "_" : String($0) }.joined()
    }

    /// `--admin-port` for `admin.port`, if the key has its own flag.
    package var flagName: String? {
        hasFlag ? "--" + path.map { $0 == "." || $0 == "_" ? "-" : String($0) }.joined() : nil
    }

    /// The key's JSON Pointer in a configuration file.
    package var pointer: String { Self.pointer(of: path) }

    static func pointer(of path: String) -> String {
        let tokens = path.split(separator: ".").map(String.init)
        guard tokens.count > 3, tokens[0] == taskGroup else { return JSONPointer(tokens).description }
        // The name of a task may have dots.
        return JSONPointer([taskGroup, tokens[1..<tokens.count - 1].joined(separator: "."), tokens[tokens.count - 1]])
            .description
    }
}

extension ConfigurationKey {
    static let taskGroup = "tasks"
    private static let taskMembers = ["url", "secret_file", "timeout", "concurrency"]

    /// The keys of the tasks of a name that are sent to a back end: `tasks.check-password.url`, …
    static func ofTask(_ name: String) -> [ConfigurationKey] {
        [
            .init(
                "tasks.\(name).url", .optional(.webAddress), \.tasks[name].url,
                "Where tasks of this name are sent, signed as Standard Webhooks specifies. Without it they are fetched."
            ),
            .init(
                "tasks.\(name).secret_file", .optional(.path), \.tasks[name].secretFile,
                "File with the secret of the signature on its only line: `whsec_` and base64."),
            .init(
                "tasks.\(name).timeout", .duration(.milliseconds(10) ... .seconds(300)), \.tasks[name].timeout,
                "A response that takes longer is a failed attempt."),
            .init(
                "tasks.\(name).concurrency", .integer(1...1_000), \.tasks[name].concurrency,
                "Most requests at once for tasks of this name."),
        ]
    }

    /// The key of a task that a path names; nil for any other path.
    static func ofTask(path: String) -> ConfigurationKey? {
        guard path.hasPrefix("\(taskGroup).") else { return nil }
        for member in taskMembers where path.hasSuffix(".\(member)") {
            let name = path.dropFirst(taskGroup.count + 1).dropLast(member.count + 1)
            if !name.isEmpty { return ofTask(String(name)).first { $0.path == path } }
        }
        return nil
    }

    /// The key of a task that a variable names. A variable has no hyphens and no small letters: it means the known task
    /// that is written like that, or else the name in small letters with hyphens.
    static func ofTask(variable: String, known: [String]) -> ConfigurationKey? {
        let prefix = "\(LoadedConfiguration.variablePrefix)TASKS_"
        guard variable.hasPrefix(prefix) else { return nil }
        if let key = known.lazy.flatMap(ofTask(_:)).first(where: { $0.environmentName == variable }) { return key }
        for member in taskMembers where variable.hasSuffix("_\(member.uppercased())") {
            let name = variable.dropFirst(prefix.count).dropLast(member.count + 1)
            let written = name.lowercased().map { $0 == "_" ? "-" : String($0) }.joined()
            if !name.isEmpty { return ofTask(path: "\(taskGroup).\(written).\(member)") }
        }
        return nil
    }
}
