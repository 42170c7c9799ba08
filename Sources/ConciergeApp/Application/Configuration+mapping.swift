import API
import Configuration
import HTTPServer
import JSONDocument
import Navigation
import Operations
import RedisStorage
import SQLiteStorage
import Sessions
import Storage

// Converts the operator's settings to those of the modules, which do not know files and flags.

extension SessionSettings {
    init(_ configuration: Configuration) {
        self.init()
        idleTimeout = configuration.sessionIdleTimeout.milliseconds
        lifetime = configuration.sessionLifetime.milliseconds
        longestIdleTimeout = configuration.sessionIdleTimeoutMax.milliseconds
        longestLifetime = configuration.sessionLifetimeMax.milliseconds
        touchInterval = configuration.touchInterval.milliseconds
        expiredRetention = configuration.expiredRetention.milliseconds
        caseLifetime = configuration.caseLifetime.milliseconds
        noticeTask = configuration.sessionNotices
        rotationGrace = configuration.rotationGrace.milliseconds
        cookiesAreProof = SessionCookie(configuration.cookie).isProof
        maxSessions = configuration.maxSessions
        maxResidentBytes = configuration.maxResidentBytes
        maxSessionsOfUser = configuration.maxUserSessions
        endsOldestOfUser = configuration.userSessionsAtLimit == .endOldest
        maxSessionSize = configuration.limits.sessionBytes
        maxDocumentSize = min(configuration.limits.documentBytes, configuration.limits.bodyBytes)
        watchingExtends = configuration.watchingExtends
        // The other connections are for requests that do not wait.
        watchers.all = max(1, configuration.limits.connections / 4 * 3)
        watchers.ofAddress = configuration.limits.addressStreams
        watchers.ofSession = configuration.limits.sessionStreams
    }
}

extension JourneySettings {
    init(_ configuration: Configuration, flows: FlowCatalog) {
        self.init(
            engine: FlowEngine(catalog: flows, orphans: configuration.orphanedJourneys),
            mainFlow: configuration.mainFlow, maxJourneys: configuration.journeys.max,
            problem: { Problem(ofResult: $0).document })
    }
}

extension Configuration {
    /// - Parameter report: gets problems of stored data, and warnings.
    /// - Throws: `StoreOpeningError`.
    func openStore(
        for catalog: ServiceCatalog, clock: any SessionClock,
        report: @escaping @Sendable (_ sentence: String, _ level: Log.Level, _ event: StaticString) -> Void
    ) throws -> any SessionStore {
        switch store {
        case .memory: MemoryStore(mostBytes: totalBytes)
        case .sqlite(let path):
            try SQLiteStore(
                path: path, services: catalog.names, touchInterval: touchInterval.milliseconds,
                durability: storeDurability, mostBytes: totalBytes, cacheBytes: pageCacheBytes, keys: encryptionKeys,
                report: { report($0, .error, "store") },
                disk: { isFull, free in
                    let sentence =
                        isFull
                        ? "The disk of \(path) is full: writes get 507, reads go on."
                        : "The disk of \(path) has room again."
                    report(
                        "\(sentence) \(free) bytes are free.", isFull ? .error : .info,
                        isFull ? "disk_full" : "disk_free")
                }, warn: { report($0, .warning, "store_notice") })
        case .redis(let address):
            try RedisStore(
                address, services: catalog.names, settings: redisSettings,
                documentKeys: encryptionKeys, clock: clock, report: { report($0, .error, "store") },
                warn: { report($0, .warning, "store") })
        }
    }
}

extension Configuration {
    /// A sixteenth of the memory, within what is of use.
    private var pageCacheBytes: Int {
        min(max(UsableMemory.bytes() / 16, SQLiteStore.leastCacheBytes), 256 << 20)
    }

    private var redisSettings: RedisStore.Settings {
        var settings = RedisStore.Settings()
        // A use that another server has not saved, the time that saving takes, and what it allows for others' uses.
        settings.useLag = 2 * (touchInterval.milliseconds + 2_000)
        settings.grace = storeGrace
        // Should no server run for long, Redis lets go of sessions by itself, a day after a server would have.
        settings.noticeTime = SessionSettings(self).longestTask
        // What back ends have not been told yet is as long in Redis as in the other stores.
        let retention = max(expiredRetention.milliseconds, sessionNotices == nil ? 0 : settings.noticeTime)
        settings.expiryMargin = retention + 86_400_000
        settings.prefix = redisPrefix
        settings.replicas = redisReplicas
        return settings
    }

    var storeDurability: Storage.Durability {
        switch durability {
        case .commit: .commit
        case .interval: .interval(syncInterval)
        case .none: .none
        }
    }
}

extension HTTPServerConfiguration {
    static func publicListener(_ configuration: Configuration, tls: TLSCertificate?) -> HTTPServerConfiguration {
        var result = HTTPServerConfiguration()
        result.tls = tls
        // RFC 6797, 7.2: not over plain HTTP. A year, as OWASP ASVS 3.4.1 wants it; other names of the domain are not
        // this server's to decide about.
        if tls != nil { result.commonFields["Strict-Transport-Security"] = "max-age=31536000" }
        result.host = configuration.host
        result.port = UInt16(clamping: configuration.port)
        result.basePath = configuration.basePath
        result.workers = configuration.workers
        result.limits.targetBytes = configuration.limits.targetBytes
        result.limits.headBytes = configuration.limits.headerBytes
        result.limits.fields = configuration.limits.headerCount
        result.limits.queryArguments = configuration.limits.queryArguments
        result.limits.cookies = configuration.limits.cookies
        result.limits.bodyBytes = configuration.limits.bodyBytes
        result.limits.bufferBytes = configuration.limits.bufferBytes
        result.limits.connections = configuration.limits.connections
        result.limits.connectionsOfAddress = configuration.limits.addressConnections
        result.limits.newConnectionsOfAddress = configuration.quotas.connections
        result.limits.uncountedAddresses = configuration.quotas.exempt
        result.limits.connectionMemory = configuration.limits.connectionMemory
        result.timeouts = configuration.timeouts
        result.timeouts.patient = configuration.timeouts.handler + ChangeWait.longest
        if !configuration.proxies.networks.isEmpty {
            result.trustedProxies = TrustedProxies(
                networks: configuration.proxies.networks, field: configuration.proxies.field)
        }
        result.crossOrigin = crossOrigin(configuration)
        return result
    }

    static func crossOrigin(_ configuration: Configuration) -> CrossOrigin? {
        guard !configuration.cors.allowedOrigins.isEmpty else { return nil }
        return CrossOrigin(
            allowedOrigins: WebOrigins(configuration.cors.allowedOrigins),
            requestFields: [
                .authorization, .sessionToken, .contentType, .ifMatch, .ifNoneMatch, "Idempotency-Key", .prefer,
                .acceptLanguage, .lastEventID, .requestID,
            ] + configuration.cors.allowedFields.map { HTTPFieldName($0) },
            responseFields: [
                .etag, .location, .requestID, .retryAfter, .preferenceApplied, "Idempotency-Replayed", .allow,
                .rateLimit, .rateLimitPolicy, .acceptPatch, .contentLanguage, .wwwAuthenticate,
            ])
    }

    static func adminListener(_ configuration: Configuration, tls: TLSCertificate?) -> HTTPServerConfiguration {
        var result = publicListener(configuration, tls: tls)
        result.host = configuration.admin.host
        result.port = UInt16(clamping: configuration.admin.port)
        // The admin listener has few callers, and must not use up the public listener's connections.
        result.workers = 1
        result.crossOrigin = nil
        // What a server exports it can import, whatever services a reload has brought. Quoting a document may double
        // its size; the rest is for labels, retired tokens and names.
        result.limits.bodyBytes = max(
            result.limits.bodyBytes, 2 * configuration.limits.sessionBytes + ArchivePart.usualBytes)
        result.limits.connections = configuration.admin.connections
        result.limits.admitsAtOnce = true
        result.limits.newConnectionsOfAddress = nil
        // Its callers are inside, where balancers are that pass bytes on, and are not behind them.
        if result.trustedProxies?.field == .proxyProtocol { result.trustedProxies = nil }
        return result
    }
}
