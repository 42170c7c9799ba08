import JSONDocument

/// The rules between keys.
enum ConfigurationRules {
    static func problems(of loaded: LoadedConfiguration) -> [ConfigurationProblem] {
        rules.compactMap { $0(loaded) }
    }

    private static let rules: [@Sendable (LoadedConfiguration) -> ConfigurationProblem?] = [
        adminKeyIsThere, listenersDiffer, touchesBeforeIdle, idleWithinLifetime, headersFitMemory, targetFitsHeader,
        intervalIsUsed, cookiesAreSecure, delayWithinDrain, proxiesAreSome, graceWithinIdle, handlersHaveTime,
        retentionOutlastsClock, totalHoldsDocument, addressWithinConnections, buffersHoldBody,
    ]

    @Sendable private static func adminKeyIsThere(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
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

    @Sendable private static func listenersDiffer(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let configuration = loaded.configuration
        let (host, admin) = (configuration.host, configuration.admin)
        guard configuration.port != 0, configuration.port == admin.port,
            host == admin.host || isWildcard(host) || isWildcard(admin.host)
        else { return nil }
        return problem(
            "conflict", .error, loaded, "admin.port", "port",
            because: "admin.port is \(admin.port), and so is port; allowed are two different ports")
    }

    @Sendable private static func touchesBeforeIdle(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (touch, idle) = (loaded.configuration.touchInterval, loaded.configuration.sessionIdleTimeout)
        guard touch >= idle else { return nil }
        return problem(
            "conflict", .error, loaded, "touch_interval", "session_idle_timeout",
            because: "touch_interval is \(DurationText.format(touch)); it must be shorter than session_idle_timeout "
                + "(\(DurationText.format(idle))), or sessions in use would end")
    }

    @Sendable private static func idleWithinLifetime(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (idle, lifetime) = (loaded.configuration.sessionIdleTimeout, loaded.configuration.sessionLifetime)
        guard idle > lifetime else { return nil }
        return problem(
            "without_effect", .warning, loaded, "session_idle_timeout", "session_lifetime",
            because: "session_idle_timeout (\(DurationText.format(idle))) is longer than session_lifetime "
                + "(\(DurationText.format(lifetime))) and so never ends a session")
    }

    @Sendable private static func headersFitMemory(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let limits = loaded.configuration.limits
        guard limits.headerBytes > limits.connectionMemory else { return nil }
        return problem(
            "conflict", .error, loaded, "limits.connection_memory", "limits.header_bytes",
            because: "limits.connection_memory is \(limits.connectionMemory); it must hold limits.header_bytes "
                + "(\(limits.headerBytes))")
    }

    /// A request line cannot be so long.
    @Sendable private static func targetFitsHeader(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let limits = loaded.configuration.limits
        guard limits.targetBytes > limits.headerBytes else { return nil }
        return problem(
            "without_effect", .warning, loaded, "limits.target_bytes", "limits.header_bytes",
            because:
                "limits.target_bytes (\(limits.targetBytes)) is more than limits.header_bytes (\(limits.headerBytes)), "
                + "which counts the request line as well")
    }

    @Sendable private static func intervalIsUsed(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let configuration = loaded.configuration
        // The configuration file that comes with Concierge contains every default.
        guard configuration.durability != .interval, configuration.syncInterval != Configuration().syncInterval else {
            return nil
        }
        return problem(
            "without_effect", .warning, loaded, "sync_interval", "durability",
            because: "sync_interval is \(DurationText.format(configuration.syncInterval)), and durability is "
                + "\(configuration.durability.rawValue); it counts with interval only")
    }

    @Sendable private static func cookiesAreSecure(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        guard loaded.configuration.tls.certificate != nil, !loaded.configuration.cookie.secure else { return nil }
        return problem(
            "conflict", .error, loaded, "cookie.secure", "tls.certificate",
            because: "cookie.secure is false, and tls.certificate is given; allowed is true with HTTPS")
    }

    /// Otherwise requests of the delay's last moment would get 503.
    @Sendable private static func delayWithinDrain(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (delay, timeout) = (loaded.configuration.drainDelay, loaded.configuration.drainTimeout)
        guard delay > .zero, delay >= timeout else { return nil }
        return problem(
            "conflict", .error, loaded, "drain_delay", "drain_timeout",
            because: "drain_delay is \(DurationText.format(delay)); it must be shorter than drain_timeout "
                + "(\(DurationText.format(timeout))), which includes it")
    }

    // MARK: What can be, and is hardly meant

    @Sendable private static func proxiesAreSome(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        guard loaded.configuration.proxies.networks.contains(where: \.isEverything) else { return nil }
        return problem(
            "doubtful", .warning, loaded, "proxies.networks",
            because: "proxies.networks contains every address, so every client can claim any address; "
                + "name the addresses of your proxies")
    }

    @Sendable private static func graceWithinIdle(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (grace, idle) = (loaded.configuration.rotationGrace, loaded.configuration.sessionIdleTimeout)
        guard grace > idle else { return nil }
        return problem(
            "doubtful", .warning, loaded, "rotation_grace", "session_idle_timeout",
            because: "rotation_grace (\(DurationText.format(grace))) is longer than session_idle_timeout "
                + "(\(DurationText.format(idle))): a replaced token would work for as long as the session")
    }

    @Sendable private static func handlersHaveTime(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let handler = loaded.configuration.timeouts.handler
        guard handler < .seconds(1) else { return nil }
        return problem(
            "doubtful", .warning, loaded, "timeouts.handler",
            because:
                "timeouts.handler is \(DurationText.format(handler)): when the disk or Redis is slow for a moment, "
                + "every response becomes 504")
    }

    @Sendable private static func retentionOutlastsClock(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        guard loaded.configuration.expiredRetention == .zero, loaded.configuration.store != .memory else { return nil }
        return problem(
            "doubtful", .warning, loaded, "expired_retention",
            because: "expired_retention is 0s: a start with a wrong clock deletes sessions at once")
    }

    @Sendable private static func totalHoldsDocument(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (total, document) = (loaded.configuration.totalBytes, loaded.configuration.limits.documentBytes)
        guard total < document else { return nil }
        return problem(
            "doubtful", .warning, loaded, "limits.total_bytes", "limits.document_bytes",
            because:
                "limits.total_bytes (\(total)) is for all sessions together, and less than limits.document_bytes (\(document)), "
                + "which one document may have")
    }

    @Sendable private static func addressWithinConnections(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let limits = loaded.configuration.limits
        guard limits.addressConnections > limits.connections else { return nil }
        return problem(
            "doubtful", .warning, loaded, "limits.address_connections", "limits.connections",
            because: "limits.address_connections (\(limits.addressConnections)) is more than limits.connections "
                + "(\(limits.connections)), so one address can take all of them")
    }

    @Sendable private static func buffersHoldBody(_ loaded: LoadedConfiguration) -> ConfigurationProblem? {
        let (limits, workers) = (loaded.configuration.limits, max(1, loaded.configuration.workers))
        guard limits.bufferBytes / workers < limits.bodyBytes else { return nil }
        return problem(
            "doubtful", .warning, loaded, "limits.buffer_bytes", "limits.body_bytes",
            because:
                "limits.buffer_bytes (\(limits.bufferBytes)) is shared by \(workers) workers, and the part of each is less than "
                + "limits.body_bytes (\(limits.bodyBytes)), so the longest bodies get 503")
    }

    private static func isWildcard(_ host: String) -> Bool { host == "0.0.0.0" || host == "::" }

    /// A problem of the first key, at the latest source of one of them: the clash is to be corrected there.
    private static func problem(
        _ code: String, _ severity: ConfigurationProblem.Severity, _ loaded: LoadedConfiguration,
        _ paths: String..., because sentence: String
    ) -> ConfigurationProblem {
        let origin = paths.map { loaded.origin(of: $0) }.max { $0.precedence < $1.precedence } ?? .builtIn
        return ConfigurationProblem(
            severity, at: origin, pointer: ConfigurationKey.pointer(of: paths[0]), code: code, sentence)
    }
}
