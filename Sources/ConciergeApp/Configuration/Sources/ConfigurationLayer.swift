import JSONDocument

/// What a source had to say.
struct ConfigurationLayer {
    var assignments: [Assignment] = []
    var problems: [ConfigurationProblem] = []
}

/// One value for one key from one source; which of several wins is decided later.
struct Assignment {
    let key: ConfigurationKey
    let written: WrittenValue
    let origin: ValueOrigin
}

/// The values of the variables `CONCIERGE_…`.
enum EnvironmentLayer {
    static let prefix = "CONCIERGE_"
    /// Names the file itself and so is no key of it.
    static let fileVariable = "CONCIERGE_CONFIG"

    /// An empty variable is taken as one that is not set: that is what Compose makes of `${PORT:-}`.
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
        // Without the prefix, which would make any two names look alike.
        let known = ConfigurationKey.all.map { String($0.environmentName.dropFirst(prefix.count)) } + ["CONFIG"]
        let guess = NearestName.of(String(name.dropFirst(prefix.count)), among: known)
        return ConfigurationProblem(
            at: .environment(name), code: "unknown_key",
            "there is no key for this variable" + (guess.map { "; did you mean \(prefix)\($0)?" } ?? ""))
    }
}

/// The values of the command line, in the order given: the last of several for one key wins.
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

/// A value given on the command line: by a flag of its own, or as `--set key=value`.
package struct FlagValue: Sendable, Equatable {
    /// The flag as the operator knows it: `--port`, `--set`.
    package let flag: String
    /// The path of the key, which for `--set` may be one that does not exist.
    package let path: String
    package let text: String

    package init(flag: String, path: String, text: String) {
        self.flag = flag
        self.path = path
        self.text = text
    }
}
