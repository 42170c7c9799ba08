import JSONDocument

/// The rules between keys.
enum ConfigurationRules {
    static func problems(of loaded: LoadedConfiguration) -> [ConfigurationProblem] {
        rules.compactMap { $0(loaded) }
    }

    private static let rules: [@Sendable (LoadedConfiguration) -> ConfigurationProblem?] = [
        adminKeyIsThere, listenersDiffer, touchesBeforeIdle, idleWithinLifetime, headersFitMemory, targetFitsHeader,
        intervalIsUsed, cookiesAreSecure, delayWithinDrain,
    ]

    @Sendable private static func adminKeyIsThere(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let admin = loaded.configuration.admin
        // A key with a bad value, or a key file that could not be read, has been reported already.
        guard admin.key == nil, admin.keyHashes.isEmpty,
            !loaded.problems.contains(where: { $0.pointer.hasPrefix("/admin/key") }),
            !AddressSetting.isLoopback(admin.host)
        else { return nil }
        return ConfigurationProblem(
            at: loaded.origin(of: "admin.host"), pointer: "/admin/key", code: "missing_key",
            "admin.key is missing; it is mandatory when admin.host is not loopback, and admin.host is \(admin.host)")
    }

    @Sendable private static func listenersDiffer(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let configuration = loaded.configuration
        let (host, admin) = (configuration.host, configuration.admin)
        guard configuration.port != 0, configuration.port == admin.port,
            host == admin.host || isWildcard(host) || isWildcard(admin.host)
        else { return nil }
        return ConfigurationProblem(
            at: later(loaded, "port", "admin.port"), pointer: "/admin/port", code: "conflict",
            "admin.port is \(admin.port), and so is port; allowed are two different ports")
    }

    @Sendable private static func touchesBeforeIdle(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (touch, idle) = (loaded.configuration.touchInterval, loaded.configuration.sessionIdleTimeout)
        guard touch >= idle else { return nil }
        return ConfigurationProblem(
            at: later(loaded, "touch_interval", "session_idle_timeout"), pointer: "/touch_interval", code: "conflict",
            "touch_interval is \(DurationText.format(touch)); it must be shorter than session_idle_timeout "
                + "(\(DurationText.format(idle))), or sessions in use would end")
    }

    @Sendable private static func idleWithinLifetime(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (idle, lifetime) = (loaded.configuration.sessionIdleTimeout, loaded.configuration.sessionLifetime)
        guard idle > lifetime else { return nil }
        return ConfigurationProblem(
            .warning, at: later(loaded, "session_idle_timeout", "session_lifetime"), pointer: "/session_idle_timeout",
            code: "without_effect",
            "session_idle_timeout (\(DurationText.format(idle))) is longer than session_lifetime "
                + "(\(DurationText.format(lifetime))) and so never ends a session")
    }

    @Sendable private static func headersFitMemory(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let limits = loaded.configuration.limits
        guard limits.headerBytes > limits.connectionMemory else { return nil }
        return ConfigurationProblem(
            at: later(loaded, "limits.connection_memory", "limits.header_bytes"),
            pointer: "/limits/connection_memory", code: "conflict",
            "limits.connection_memory is \(limits.connectionMemory); it must hold limits.header_bytes "
                + "(\(limits.headerBytes))")
    }

    /// A request line cannot be so long.
    @Sendable private static func targetFitsHeader(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let limits = loaded.configuration.limits
        guard limits.targetBytes > limits.headerBytes else { return nil }
        return ConfigurationProblem(
            .warning, at: later(loaded, "limits.header_bytes", "limits.target_bytes"),
            pointer: "/limits/target_bytes", code: "without_effect",
            "limits.target_bytes (\(limits.targetBytes)) is more than limits.header_bytes (\(limits.headerBytes)), "
                + "which counts the request line as well")
    }

    @Sendable private static func intervalIsUsed(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let configuration = loaded.configuration
        // The configuration file that comes with Concierge contains every default.
        guard configuration.durability != .interval, configuration.syncInterval != Configuration().syncInterval else {
            return nil
        }
        return ConfigurationProblem(
            .warning, at: later(loaded, "durability", "sync_interval"), pointer: "/sync_interval",
            code: "without_effect",
            "sync_interval is \(DurationText.format(configuration.syncInterval)), and durability is "
                + "\(configuration.durability.rawValue); it counts with interval only")
    }

    @Sendable private static func cookiesAreSecure(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        guard loaded.configuration.tls.certificate != nil, !loaded.configuration.cookie.secure else { return nil }
        return ConfigurationProblem(
            at: later(loaded, "cookie.secure", "tls.certificate"), pointer: "/cookie/secure", code: "conflict",
            "cookie.secure is false, and tls.certificate is given; allowed is true with HTTPS")
    }

    /// Otherwise requests of the delay's last moment would get 503.
    @Sendable private static func delayWithinDrain(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (delay, timeout) = (loaded.configuration.drainDelay, loaded.configuration.drainTimeout)
        guard delay > .zero, delay >= timeout else { return nil }
        return ConfigurationProblem(
            at: later(loaded, "drain_delay", "drain_timeout"), pointer: "/drain_delay", code: "conflict",
            "drain_delay is \(DurationText.format(delay)); it must be shorter than drain_timeout "
                + "(\(DurationText.format(timeout))), which includes it")
    }

    private static func isWildcard(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

    /// The latest source of one of the keys: the clash is to be corrected there.
    private static func later(_ loaded: LoadedConfiguration, _ paths: String...) -> ValueOrigin {
        paths.map { loaded.origin(of: $0) }.max { $0.precedence < $1.precedence } ?? .builtIn
    }
}
