import JSONDocument

/// The values of the variables `CONCIERGE_…`.
enum EnvironmentLayer {
    static let prefix = "CONCIERGE_"
    /// Names the file itself and so is no key of it.
    static let fileVariable = "CONCIERGE_CONFIG"

    /// An empty variable is taken as one that is not set: that is what Compose makes of `${PORT:-}`.
    static func read(_ environment: [String: String]) -> ConfigurationLayer {
        var layer = ConfigurationLayer()
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where name.hasPrefix(prefix) {
            if name == fileVariable { continue }
            guard let key = byName[name] else {
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
