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
