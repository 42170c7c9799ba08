import JSONDocument

/// A key of the configuration: its name, its values, its meaning and its place in ``Configuration``.
package struct ConfigurationKey: Sendable {
    /// Its path in the file, joined by dots: `admin.port`.
    package let path: String
    package let typeName: String
    /// The allowed values, to follow "allowed is".
    package let allowed: String
    private let examples: String?
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
    let fault: @Sendable (WrittenValue) -> String?
    let guess: @Sendable (WrittenValue) -> String?

    /// - Parameters:
    ///   - flag: whether it has its own flag. Every key can be set by `--set key=value`.
    ///   - defaultText: replaces the initial value if that depends on the machine.
    init<Setting: SettingType>(
        _ path: String, _ setting: Setting, _ place: any WritableKeyPath<Configuration, Setting.Value> & Sendable,
        flag: Bool = false, defaultText: String? = nil, _ meaning: String
    ) {
        self.path = path
        self.typeName = setting.name
        self.allowed = setting.allowed
        self.examples = setting.examples
        self.defaultText = defaultText ?? "`\(setting.show(Configuration()[keyPath: place]))`"
        self.meaning = meaning
        self.schema = setting.schema
        self.isSecret = setting.name == SecretSetting().name
        self.isPath = setting.name == PathSetting().name
        self.hasFlag = flag
        self.assign = { written, configuration in
            guard let value = setting.read(written) else { return false }
            configuration[keyPath: place] = value
            return true
        }
        self.show = { setting.show($0[keyPath: place]) }
        self.fault = { setting.fault($0) }
        self.guess = { setting.guess($0) }
    }

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
        "/" + path.map { $0 == "." ? "/" : String($0) }.joined()
    }

    /// The sentence about a value that is not allowed. It does not contain a secret value.
    func refusal(of written: WrittenValue) -> String {
        let given = isSecret ? "has a value that is not allowed (not shown)" : fault(written) ?? "is \(written.shown)"
        let guess = isSecret ? nil : guess(written)
        let asIn = examples.map { ", as in \($0)" } ?? ""
        return "\(path) \(given); allowed is \(allowed)\(asIn)" + (guess.map { "; did you mean \($0)?" } ?? "")
    }
}
