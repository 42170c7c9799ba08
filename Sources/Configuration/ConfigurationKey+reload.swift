extension ConfigurationKey {
    /// Whether a reload takes a change over. All others need a restart.
    package var isReloadable: Bool {
        Self.reloadable.contains(path)
    }

    private static let reloadable: Set<String> = [
        "services", "flows", "flows_public", "main_flow", "orphaned_journeys", "journeys.max", "cors.allowed_origins",
        "cors.allowed_fields", "log.level",
    ]

    /// The paths of the keys whose values differ, in the order of the reference. A key that names a file also differs
    /// when the program has read something else from it.
    package static func changes(from former: Configuration, to new: Configuration) -> [ConfigurationKey] {
        let tasks = Set(former.tasks.names + new.tasks.names).sorted()
        let secrets = tasks.filter { former.tasks[$0].secret != new.tasks[$0].secret }.map { "tasks.\($0).secret_file" }
        return (all + tasks.flatMap(ofTask(_:))).filter { key in
            !key.isSame(former, new) || !(contents[key.path]?(former, new) ?? true) || secrets.contains(key.path)
        }
    }

    /// Whether what was read from the file that a key names is the same.
    private static let contents: [String: @Sendable (Configuration, Configuration) -> Bool] = [
        "encryption_keys_file": { $0.encryptionKeys == $1.encryptionKeys },
        "log.users_key_file": { $0.log.usersKey == $1.log.usersKey },
    ]
}
