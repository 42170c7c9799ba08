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
