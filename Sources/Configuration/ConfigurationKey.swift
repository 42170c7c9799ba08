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
    /// The sentence about a value that is not allowed. It does not contain a secret value.
    let refusal: @Sendable (WrittenValue) -> String

    /// - Parameters:
    ///   - flag: whether it has its own flag. Every key can be set by `--set key=value`.
    ///   - defaultText: replaces the initial value if that depends on the machine.
    init<Value>(
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
