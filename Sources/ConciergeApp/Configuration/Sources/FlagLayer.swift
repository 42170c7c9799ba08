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

/// The values of the command line, in the order given: the last of several for one key wins.
enum FlagLayer {
    static func read(_ values: [FlagValue]) -> Layer {
        var layer = Layer()
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
