import JSONDocument

/// The rules between keys.
enum ConfigurationRules {
    static func problems(of loaded: LoadedConfiguration) -> [ConfigurationProblem] {
        [missingAdminKey(loaded)].compactMap(\.self) + rules.compactMap { $0.problem(of: loaded) }
    }

    private static func missingAdminKey(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let admin = loaded.configuration.admin
        // A key with a bad value, or a key file that could not be read, has been reported already.
        guard admin.key == nil, admin.keyHashes.isEmpty,
            !loaded.problems.contains(where: { $0.pointer.hasPrefix("/admin/key") }),
            !ListenAddress.isLoopback(admin.host)
        else { return nil }
        return ConfigurationProblem(
            at: loaded.origin(of: "admin.host"), pointer: "/admin/key", code: "missing_key",
            "admin.key is missing; it is mandatory when admin.host is not loopback, and admin.host is \(admin.host)")
    }

    private struct Rule: Sendable {
        let code: String
        var severity = ConfigurationProblem.Severity.warning
        /// The first is the one to change.
        let keys: [String]
        /// What is wrong; nil when nothing is.
        let sentence: @Sendable (Configuration) -> String?

        /// The latest source of one of the keys is where the clash is to be corrected.
        func problem(of loaded: LoadedConfiguration) -> ConfigurationProblem? {
            guard let sentence = sentence(loaded.configuration) else { return nil }
            let origin = keys.map { loaded.origin(of: $0) }.max { $0.precedence < $1.precedence } ?? .builtIn
            return ConfigurationProblem(
                severity, at: origin, pointer: ConfigurationKey.pointer(of: keys[0]), code: code, sentence)
        }
    }

    private static let rules: [Rule] = [
        Rule(code: "conflict", severity: .error, keys: ["admin.port", "port"]) {
            let (host, admin) = ($0.host, $0.admin)
            let isOne = host == admin.host || [host, admin.host].contains { $0 == "0.0.0.0" || $0 == "::" }
            guard [host, admin.host].allSatisfy(ListenAddress.hasPort) else { return nil }
            return $0.port != 0 && $0.port == admin.port && isOne
                ? "admin.port is \(admin.port), and so is port; allowed are two different ports" : nil
        },
        Rule(code: "conflict", severity: .error, keys: ["admin.host", "host"]) {
            ListenAddress.path($0.host) != nil && $0.host == $0.admin.host
                ? "admin.host is \($0.host), and so is host; allowed are two different paths" : nil
        },
        Rule(code: "conflict", severity: .error, keys: ["touch_interval", "session_idle_timeout"]) {
            $0.touchInterval >= $0.sessionIdleTimeout
                ? "touch_interval is \(text($0.touchInterval)); it must be shorter than session_idle_timeout "
                    + "(\(text($0.sessionIdleTimeout))), or sessions in use would end" : nil
        },
        Rule(
            code: "conflict", severity: .error, keys: ["session_idle_timeout_max", "session_idle_timeout"]
        ) {
            $0.sessionIdleTimeoutMax < $0.sessionIdleTimeout
                ? "session_idle_timeout_max is \(text($0.sessionIdleTimeoutMax)); it must not be shorter than "
                    + "session_idle_timeout (\(text($0.sessionIdleTimeout)))" : nil
        },
        Rule(code: "conflict", severity: .error, keys: ["session_lifetime_max", "session_lifetime"]) {
            $0.sessionLifetimeMax < $0.sessionLifetime
                ? "session_lifetime_max is \(text($0.sessionLifetimeMax)); it must not be shorter than "
                    + "session_lifetime (\(text($0.sessionLifetime)))" : nil
        },
        Rule(code: "without_effect", keys: ["session_idle_timeout", "session_lifetime"]) {
            $0.sessionIdleTimeout > $0.sessionLifetime
                ? "session_idle_timeout (\(text($0.sessionIdleTimeout))) is longer than session_lifetime "
                    + "(\(text($0.sessionLifetime))) and so never ends a session" : nil
        },
        Rule(
            code: "without_effect", keys: ["limits.connection_memory", "limits.header_bytes", "limits.header_count"]
        ) {
            $0.limits.connectionMemory < $0.limits.leastConnectionMemory
                ? "limits.connection_memory is \($0.limits.connectionMemory); limits.header_bytes "
                    + "(\($0.limits.headerBytes)) and limits.header_count (\($0.limits.headerCount)) need "
                    + "\($0.limits.leastConnectionMemory), which a connection gets" : nil
        },
        // A request line cannot be so long.
        Rule(code: "without_effect", keys: ["limits.target_bytes", "limits.header_bytes"]) {
            $0.limits.targetBytes > $0.limits.headerBytes
                ? "limits.target_bytes (\($0.limits.targetBytes)) is more than limits.header_bytes "
                    + "(\($0.limits.headerBytes)), which counts the request line as well" : nil
        },
        // The configuration file that comes with Concierge contains every default.
        Rule(code: "without_effect", keys: ["sync_interval", "durability"]) {
            $0.durability != .interval && $0.syncInterval != Configuration().syncInterval
                ? "sync_interval is \(text($0.syncInterval)), and durability is \($0.durability.rawValue); "
                    + "it counts with interval only" : nil
        },
        Rule(code: "without_effect", keys: ["log.users_key_file", "log.users"]) {
            $0.log.usersKeyFile != nil && $0.log.users != .hash
                ? "log.users_key_file is given, and log.users is \($0.log.users.rawValue); it counts with hash only"
                : nil
        },
        Rule(code: "conflict", severity: .error, keys: ["backup.directory", "store"]) {
            if case .sqlite = $0.store { return nil }
            return $0.backup.directory == nil
                ? nil : "backup.directory is given, and store is \($0.store.kind), of which the server makes no backups"
        },
        Rule(code: "without_effect", keys: ["backup.directory", "backup.every", "backup.keep"]) {
            $0.backup.directory == nil && $0.backup != Configuration.Backup()
                ? "backup.directory is missing, so there are no backups: backup.every and backup.keep have no effect"
                : nil
        },
        Rule(code: "conflict", severity: .error, keys: ["cookie.secure", "cookie.same_site", "cookie.partitioned"]) {
            $0.cookie.secure || ($0.cookie.sameSite != .none && !$0.cookie.partitioned)
                ? nil
                : "cookie.secure is false, and browsers refuse such a cookie with cookie.same_site none or "
                    + "cookie.partitioned; allowed is true with either"
        },
        Rule(code: "conflict", severity: .error, keys: ["cookie.secure", "tls.certificate"]) {
            $0.tls.certificate != nil && !$0.cookie.secure
                ? "cookie.secure is false, and tls.certificate is given; allowed is true with HTTPS" : nil
        },
        // Otherwise requests of the delay's last moment would get 503.
        Rule(code: "conflict", severity: .error, keys: ["drain_delay", "drain_timeout"]) {
            $0.drainDelay > .zero && $0.drainDelay >= $0.drainTimeout
                ? "drain_delay is \(text($0.drainDelay)); it must be shorter than drain_timeout "
                    + "(\(text($0.drainTimeout))), which includes it" : nil
        },

        // What can be, and is hardly meant.
        Rule(code: "doubtful", keys: ["proxies.networks"]) {
            $0.proxies.networks.contains(where: \.isEverything)
                ? "proxies.networks contains every address, so every client can claim any address; "
                    + "name the addresses of your proxies" : nil
        },
        Rule(code: "doubtful", keys: ["rotation_grace", "session_idle_timeout"]) {
            $0.rotationGrace > $0.sessionIdleTimeout
                ? "rotation_grace (\(text($0.rotationGrace))) is longer than session_idle_timeout "
                    + "(\(text($0.sessionIdleTimeout))): a replaced token would work for as long as the session" : nil
        },
        Rule(code: "doubtful", keys: ["timeouts.handler"]) {
            $0.timeouts.handler < .seconds(1)
                ? "timeouts.handler is \(text($0.timeouts.handler)): when the disk or Redis is slow for a moment, "
                    + "every response becomes 504" : nil
        },
        Rule(code: "doubtful", keys: ["expired_retention"]) {
            $0.expiredRetention == .zero && $0.store != .memory
                ? "expired_retention is 0s: a start with a wrong clock deletes sessions at once" : nil
        },
        Rule(code: "doubtful", keys: ["limits.total_bytes", "limits.document_bytes"]) {
            $0.totalBytes < $0.limits.documentBytes
                ? "limits.total_bytes (\($0.totalBytes)) is for all sessions together, and less than "
                    + "limits.document_bytes (\($0.limits.documentBytes)), which one document may have" : nil
        },
        Rule(code: "doubtful", keys: ["limits.address_connections", "limits.connections"]) {
            $0.limits.addressConnections > $0.limits.connections
                ? "limits.address_connections (\($0.limits.addressConnections)) is more than limits.connections "
                    + "(\($0.limits.connections)), so one address can take all of them" : nil
        },
        Rule(code: "doubtful", keys: ["limits.buffer_bytes", "limits.body_bytes"]) {
            let (limits, workers) = ($0.limits, max(1, $0.workers))
            return limits.bufferBytes / workers < limits.bodyBytes
                ? "limits.buffer_bytes (\(limits.bufferBytes)) is shared by \(workers) workers, and the part of each "
                    + "is less than limits.body_bytes (\(limits.bodyBytes)), so the longest bodies get 503" : nil
        },
    ]

    @Sendable private static func text(_ duration: Duration) -> String { DurationText.format(duration) }
}
