import HTTPServer

extension ConfigurationKey {
    /// All keys, in the order of the reference. A new key is a line here and a property with its default in
    /// ``Configuration``. `concierge config --reference` then prints the table for `config/README.md`, and a test
    /// checks that it is there.
    package static let all: [ConfigurationKey] = [
        .init("host", .address, \.host, flag: true, "Where the public listener listens."),
        .init("port", .integer(0...65_535), \.port, flag: true, "Port of the public listener; 0 takes a free one."),
        .init(
            "workers", .integer(1...256), \.workers, flag: true, defaultText: "usable processor cores",
            "Threads that serve the public listener; the admin listener has one more."),
        .init(
            "store", .store, \.store, flag: true,
            "Where sessions live: in memory alone, in an SQLite file, named relative to the working directory, or in Redis, "
                + "where several servers share them."),
        .init(
            "redis_password_file", .optional(.path), \.redisPasswordFile,
            "File with the password for Redis on its only line."),
        .init(
            "redis_sentinel_password_file", .optional(.path), \.redisSentinelPasswordFile,
            "File with the password for the sentinels of `redis+sentinel://` on its only line."),
        .init(
            "redis_prefix", .redisPrefix, \.redisPrefix, flag: true,
            "What the names of all keys and channels in Redis begin with: another one for each installation that shares a Redis."
        ),
        .init(
            "redis_replicas", .integer(0...10), \.redisReplicas,
            "How many replicas of a Redis server must have a write before its response; without them it gets 503 and may be "
                + "stored."),
        .init(
            "store_grace", .duration(.zero ... .seconds(600)), \.storeGrace,
            "How long Redis may be away before the server reports that it is not ready. Requests get 503 meanwhile. No effect "
                + "with other stores."),
        .init(
            "durability", .choice(Configuration.Durability.self), \.durability,
            "When a write is on the disk: before its response, at most `sync_interval` later, or when the operating system "
                + "writes it. No effect with `memory`, nor with Redis, whose own `appendfsync` decides."),
        .init(
            "sync_interval", .duration(.milliseconds(1) ... .seconds(60)), \.syncInterval,
            "With `durability` `interval`: the most time of writes that a power cut may lose."),
        .init(
            "encryption_keys_file", .optional(.path), \.encryptionKeysFile,
            "File with keys, each on a line `NAME:BASE64` of 32 bytes: in the store services and labels are encrypted with "
                + "the first one, and read with any of them. No effect with `memory`."),
        .init(
            "services", .optional(.path), \.services, flag: true,
            defaultText: "`services` beside the file, if it is there", "Directory of service files, see below."),
        .init(
            "flows", .optional(.path), \.flows, flag: true,
            defaultText: "`flows` beside the file, if it is there", "Directory of flow files, see below."),
        .init(
            "flows_public", .flowsPublic, \.flowsPublic,
            "What can be read of flows without a token: names, titles, screens and events; nothing; or `\"definitions\"`."
        ),
        .init(
            "main_flow", .optional(.flowName), \.mainFlow,
            "The flow of journey `main`, which starts at its first request."),
        .init(
            "orphaned_journeys", .choice(Configuration.OrphanedJourneys.self), \.orphanedJourneys,
            "When journeys need a version of a flow that is not loaded: refuse to start, or restart those journeys."),
        .init(
            "demo", .boolean, \.demo, "Whether the public listener serves the demo, a page for browsers, at `/demo`."),
        .init(
            "drain_timeout", .duration(.zero ... .hours(1)), \.drainTimeout,
            "How long a stopping server waits for requests in progress, `drain_delay` included."),
        .init(
            "drain_delay", .duration(.zero ... .hours(1)), \.drainDelay,
            "How long a stopping server accepts requests while it already reports that it is not ready."),
        .init(
            "rotation_grace", .duration(.zero ... .hours(1)), \.rotationGrace,
            "How long the old token works after a new one was issued."),
        .init(
            "touch_interval", .duration(.zero ... .hours(1)), \.touchInterval,
            defaultText: "a twentieth of `session_idle_timeout`, `\"1h\"` at most",
            "The last use of a session is stored at most this often, and when the server stops. After a crash a session may "
                + "live this much longer, and no session shorter. No effect with `memory`."),
        .init(
            "session_idle_timeout", .duration(.seconds(1) ... .days(365)), \.sessionIdleTimeout,
            "A session ends when it has not been used for this long."),
        .init(
            "session_lifetime", .duration(.seconds(1) ... .days(3650)), \.sessionLifetime,
            "A session ends after this long, used or not."),
        .init(
            "watching_extends", .boolean, \.watchingExtends,
            "Whether watching a session keeps it alive: an open event stream, a GET that waits, and a 304."),
        .init(
            "expired_retention", .duration(.zero ... .days(30)), \.expiredRetention,
            "An expired session is refused at once and deleted this much later, and not before the server has run for as "
                + "long, so a start with a wrong clock loses nothing. While three quarters of `max_sessions` are stored, it "
                + "is deleted at once. No effect with `memory`."),
        .init(
            "max_sessions", .integer(1...100_000_000), \.maxSessions,
            "Most sessions that are stored, including expired ones that are not deleted yet. At this number a new one takes the "
                + "place of one that was created five seconds ago and never used, else of the one that has been idle for "
                + "longest, if that is five minutes and it has no user, or gets 503. After a crash all count as used then."
        ),
        .init(
            "max_user_sessions", .integer(1...1_000_000), \.maxUserSessions, "Most sessions that a user is attached to."
        ),
        .init(
            "user_sessions_at_limit", .choice(Configuration.UserSessionsAtLimit.self), \.userSessionsAtLimit,
            "When a user with so many signs in to one more: end the oldest, or refuse with 409."),
        .init(
            "max_resident_bytes", .bytes(1...1_125_899_906_842_624), \.maxResidentBytes,
            defaultText: "a quarter of the machine's or container's memory",
            "Most bytes that sessions take in memory: 600 for each, and the states of its services and its labels. Beyond it the "
                + "least recently used are dropped from memory and read from the store when they are used again. No effect "
                + "with `memory`."),

        .init("admin.host", .address, \.admin.host, flag: true, "Where the admin listener listens."),
        .init(
            "admin.port", .integer(0...65_535), \.admin.port, flag: true,
            "Port of the admin listener; 0 takes a free one."),
        .init(
            "admin.key", .optional(.secret), \.admin.key,
            "Key that admin requests must carry; required unless `admin.host` is loopback."),
        .init("admin.key_file", .optional(.path), \.admin.keyFile, "File with that key on its only line."),
        .init(
            "admin.key_hashes", .keyHashes, \.admin.keyHashes,
            "Further keys, of which the server only knows the SHA-256. Lines about changes in the log have the key's name."
        ),
        .init(
            "admin.failed_tries", .quota, \.admin.failedTries,
            "Most wrong keys from one address in a time. Beyond it no key is looked at, and requests get 429."),
        .init(
            "admin.connections", .integer(16...1_000_000), \.admin.connections,
            "Most open connections of the admin listener. At the limit the oldest without a complete request is closed for "
                + "a new one. Claims that wait for a task do not count."),

        .init(
            "tls.certificate", .optional(.path), \.tls.certificate,
            "PEM file with the certificate of both listeners, followed by those that signed it. With it they speak HTTPS."
        ),
        .init(
            "tls.key", .optional(.path), \.tls.key,
            "PEM file with the private key of that certificate, without a password."),
        .init(
            "tls.client_ca", .optional(.path), \.tls.clientCA,
            "PEM file with authorities: clients of the admin listener must show a certificate that one of them signed. No "
                + "effect on the public listener."),

        .init(
            "redis_tls.ca", .optional(.path), \.redisTLS.authorities, defaultText: "the system's",
            "PEM file with the authorities of Redis' certificate, for a store at `rediss://`. Files of `redis_tls` are read "
                + "again for each connection."),
        .init(
            "redis_tls.certificate", .optional(.path), \.redisTLS.certificate,
            "PEM file with the certificate that the server shows to Redis, followed by those that signed it."),
        .init(
            "redis_tls.key", .optional(.path), \.redisTLS.key,
            "PEM file with the private key of that certificate, without a password."),

        .init(
            "cookie.secure", .boolean, \.cookie.secure,
            "Whether the session cookie is only sent over HTTPS; false is for development alone."),
        .init(
            "cors.allowed_origins", .origins, \.cors.allowedOrigins,
            "Other web origins whose pages may call the public listener (CORS), also with the session cookie."),

        .init(
            "proxies.networks", .networks, \.proxies.networks,
            "Addresses of the proxies in front of the listeners. Only what they say about a client's address counts."),
        .init(
            "proxies.field", .choice(TrustedProxies.Field.self), \.proxies.field,
            "Where they say it: in a field, or, with `proxy-protocol`, in bytes before the first request of each connection to "
                + "the public listener. Whatever else is there counts for nothing: proxies pass on what a client wrote."
        ),

        .init(
            "quotas.requests", .quota, \.quotas.requests,
            "Most requests from one address, for IPv6 from one /64, in a time. They may all come at once; then one is allowed "
                + "each time that its share of the time is over. Beyond it a request gets 429. Health checks and "
                + "CORS preflights do not count."
        ),
        .init(
            "quotas.sessions", .quota, \.quotas.sessions, "Most sessions that one address creates, in the same way."),
        .init(
            "quotas.session_requests", .quota, \.quotas.sessionRequests,
            "Most requests with one token, in the same way."),
        .init(
            "quotas.connections", .quota, \.quotas.connections,
            "Most new connections from one address, in the same way. Beyond it a connection is closed at once, before TLS "
                + "begins. Requests on open connections are not concerned, nor are `proxies.networks`."),
        .init(
            "quotas.exempt", .networks, \.quotas.exempt,
            "Clients that have no quota. It does not hold for what a proxy has sent, by its `X-Forwarded-For` or `Forwarded`, "
                + "that `proxies.networks` does not name: its clients share a quota."
        ),

        .init(
            "limits.target_bytes", .bytes(64...65_536), \.limits.targetBytes, "Longest request target, path and query."),
        .init("limits.header_count", .integer(8...1000), \.limits.headerCount, "Most header fields of a request."),
        .init(
            "limits.header_bytes", .bytes(256...262_144), \.limits.headerBytes,
            "Most bytes of the request line and all header fields together."),
        .init("limits.query_arguments", .integer(1...256), \.limits.queryArguments, "Most arguments of a query."),
        .init("limits.cookies", .integer(1...256), \.limits.cookies, "Most cookies of a request."),
        .init(
            "limits.body_bytes", .bytes(1...67_108_864), \.limits.bodyBytes,
            "Longest request body of the public listener. The admin listener accepts 1 MiB, and any session that it exports."
        ),
        .init(
            "limits.document_bytes", .bytes(1...67_108_864), \.limits.documentBytes,
            "Largest state of a service, if `limits.body_bytes` is not less. All journeys of a session together may have "
                + "sixteen times as much."),
        .init(
            "limits.session_bytes", .bytes(1...1_073_741_824), \.limits.sessionBytes,
            "Most bytes of the states of all services of a session together; a write beyond it gets 413."),
        .init(
            "limits.total_bytes", .bytes(1...1_125_899_906_842_624), \.totalBytes,
            defaultText: "`17179869184`; with `memory` at most half of the machine's or container's memory",
            "Most bytes of the states of all services, and of the labels, of all sessions together. A write that takes more "
                + "room gets 507; all else goes on. 17 KiB for each of a million sessions, so that honest ones do not reach "
                + "it. No effect with Redis, whose own `maxmemory` decides."),
        .init(
            "limits.buffer_bytes", .bytes(1_048_576...1_099_511_627_776), \.limits.bufferBytes,
            "Most bytes of bodies of requests and responses in memory, those up to 4 KiB apart; at this number the "
                + "connections close whose clients are slowest, and if none is slow a request gets 503. Each worker has an "
                + "equal part."),
        .init(
            "limits.connections", .integer(1...1_000_000), \.limits.connections,
            "Most open connections of the public listener; at this number those that have been idle for longest make room for "
                + "clients that wait."),
        .init(
            "limits.address_connections", .integer(1...1_000_000), \.limits.addressConnections,
            "Most open connections of one address, for IPv6 of one /64; further ones are closed at once. It is not for "
                + "`proxies.networks` and `quotas.exempt`."),
        .init(
            "limits.address_streams", .integer(1...1_000_000), \.limits.addressStreams,
            "Most event streams and waiting requests of one address, for IPv6 of one /64; a new one closes the oldest. In all "
                + "there can be three quarters of `limits.connections`; then the address with most of them loses its oldest."
        ),
        .init(
            "limits.session_streams", .integer(1...2048), \.limits.sessionStreams,
            "Most event streams and waiting requests of one session; a new one closes the oldest of the address with most of "
                + "them."),
        .init(
            "limits.connection_memory", .bytes(1024...1_048_576), \.limits.connectionMemory,
            "Memory of each connection; request line, header fields and the response's header must fit into it."),

        .init(
            "timeouts.header", .deadline, \.timeouts.header,
            "From accepting a connection, or from the request line of a later request, to the end of the header."),
        .init("timeouts.body", .deadline, \.timeouts.body, "From the end of the header to the end of the body."),
        .init("timeouts.idle", .deadline, \.timeouts.idle, "A connection without a request is closed after this."),
        .init(
            "timeouts.handler", .deadline, \.timeouts.handler,
            "A response that is not ready in this time becomes a 504."),
        .init(
            "timeouts.write", .deadline, \.timeouts.write,
            "A client that does not read its response in this time is disconnected."),

        .init(
            "log.format", .choice(Configuration.Log.Format.self), \.log.format,
            "Log lines as JSON or as text; auto is text on a terminal and JSON elsewhere."),
        .init(
            "log.level", .choice(Configuration.Log.Level.self), \.log.level, "The least severe level that is written."),
        .init("log.requests", .boolean, \.log.requests, "Whether each request gets a line in the log."),

        .init(
            "journeys.max", .integer(1...1000), \.journeys.max,
            "Most journeys of a session; at this number only `main` can be started, any other gets 409."),

        .init(
            "idempotency.retention", .duration(.seconds(1) ... .days(30)), \.idempotency.retention,
            "How long the response to an `Idempotency-Key` is kept."),
        .init(
            "idempotency.max_entries", .integer(1...10_000_000), \.idempotency.maxEntries,
            "Most remembered keys of requests that name no session, such as those that make one; the oldest go first. A "
                + "response that is kept by itself counts as one more for each KiB."),
    ]

    private static let byPath = Dictionary(uniqueKeysWithValues: all.map { ($0.path, $0) })

    static func named(_ path: String) -> ConfigurationKey? { byPath[path] ?? ofTask(path: path) }

    /// The names of the objects that group keys: `admin`, `limits`, …
    static let groups: [String] = {
        var groups: [String] = []
        for group in all.compactMap(\.group) where !groups.contains(group) { groups.append(group) }
        return groups
    }()

    private var group: String? {
        path.firstIndex(of: ".").map { String(path[..<$0]) }
    }

    /// Keys and groups: all names that an operator can have meant.
    static let names = all.map(\.path) + groups + [taskGroup]
}

extension SettingType where Self == DurationSetting {
    /// The deadline of a phase of a request. Below 10 ms no client could meet it; above an hour it protects nothing.
    fileprivate static var deadline: DurationSetting { .duration(.milliseconds(10) ... .hours(1)) }
}

extension Duration {
    fileprivate static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
