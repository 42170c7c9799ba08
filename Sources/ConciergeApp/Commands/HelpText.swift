/// What `concierge help` prints. Flags come from the table of keys.
enum HelpText {
    static func about(_ topic: Command?) -> String {
        guard let topic else { return program }
        switch topic {
        case .serve, .check, .config, .health: return command(topic)
        case .version, .help: return "\(usageLine(topic))\n\n\(sentence(topic))\n"
        }
    }

    static var program: String {
        let commands = Command.allCases.map { "  \(padded($0.rawValue, 9))\($0.summary)" }
        return """
            concierge gives every session of your clients its own services.

            usage: concierge COMMAND [FLAGS]

            \(commands.joined(separator: "\n"))

            concierge help COMMAND explains a command.

            """
    }

    private static func command(_ topic: Command) -> String {
        var flags = [("--config FILE", "configuration file; default \(ConfigurationLoader.defaultFile) if it is there")]
        flags += ConfigurationKey.all.compactMap { key in
            key.flagName.map { ("\($0) \(key.typeName.uppercased())", plain(key.meaning)) }
        }
        flags.append(("--set KEY=VALUE", "any other key of the configuration"))
        if topic == .config {
            flags.append(("--sources", "also where each value comes from"))
            flags.append(("--reference", "instead the table of all keys, as Markdown"))
        }
        let lines = flags.map { "  \(padded($0.0, 24))\($0.1)" }
        return """
            \(usageLine(topic))

            \(sentence(topic))

            \(lines.joined(separator: "\n"))

            Flags win over environment variables (CONCIERGE_PORT, CONCIERGE_ADMIN_PORT, ...), and these over the file.

            """
    }

    private static func usageLine(_ topic: Command) -> String {
        switch topic {
        case .serve, .check, .health: "usage: concierge \(topic.rawValue) [--config FILE] [FLAGS]"
        case .config: "usage: concierge config [--config FILE] [--sources|--reference] [FLAGS]"
        case .version: "usage: concierge version"
        case .help: "usage: concierge help [COMMAND]"
        }
    }

    private static func sentence(_ topic: Command) -> String {
        topic.summary.prefix(1).uppercased() + topic.summary.dropFirst() + "."
    }

    /// Without the marks that the reference has around names.
    private static func plain(_ meaning: String) -> String {
        meaning.filter { $0 != "`" }
    }

    private static func padded(_ text: String, _ width: Int) -> String {
        text + String(repeating: " ", count: max(1, width - text.count))
    }
}
