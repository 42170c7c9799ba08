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
        let prefix = "\(EnvironmentLayer.prefix)TASKS_"
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
