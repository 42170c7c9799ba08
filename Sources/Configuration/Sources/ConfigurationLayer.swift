import JSONDocument

/// The values and problems of a source.
struct ConfigurationLayer {
    var assignments: [Assignment] = []
    var problems: [ConfigurationProblem] = []
}

/// A value of a key from one source. The loader decides which source wins.
struct Assignment {
    let key: ConfigurationKey
    let written: WrittenValue
    let origin: ValueOrigin
}

/// The values of the variables `CONCIERGE_…`.
enum EnvironmentLayer {
    static let prefix = "CONCIERGE_"
    /// Names the file itself, so it is not a key of the file.
    static let fileVariable = "CONCIERGE_CONFIG"

    /// An empty variable counts as missing, because Compose sets one for `${PORT:-}`.
    ///
    /// - Parameter tasks: the names of tasks that the file has.
    static func read(_ environment: [String: String], tasks: [String]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            if name == fileVariable { continue }
            guard let key = byName[name] ?? ConfigurationKey.ofTask(variable: name, known: tasks) else {
                layer.problems.append(unknown(name))
                continue
            }
            if text.isEmpty { continue }
            layer.assignments.append(Assignment(key: key, written: .plain(text), origin: .environment(name)))
        }
        return layer
    }

    private static let byName = Dictionary(
        uniqueKeysWithValues: ConfigurationKey.all.map { ($0.environmentName, $0) })

    private static func unknown(_ name: String) -> ConfigurationProblem {
        // Without the prefix, which would make all names similar.
        let known = ConfigurationKey.all.map { String($0.environmentName.dropFirst(prefix.count)) } + ["CONFIG"]
        let guess = NearestName.of(String(name.dropFirst(prefix.count)), among: known)
        return ConfigurationProblem(
            at: .environment(name), code: "unknown_key",
            "there is no key for this variable" + (guess.map { "; did you mean \(prefix)\($0)?" } ?? ""))
    }
}

/// The values of the command line. The last value of a key wins.
enum FlagLayer {
    static func read(_ values: [FlagValue]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for value in values {
            guard let key = ConfigurationKey.named(value.path) else {
                layer.problems.append(
                    .unknownKey(value.path, at: .flag(value.flag), pointer: ConfigurationKey.pointer(of: value.path)))
                continue
            }
            layer.assignments.append(Assignment(key: key, written: .plain(value.text), origin: .flag(value.flag)))
        }
        return layer
    }
}

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
