import HTTPServer

extension ConfigurationKey {
    /// All keys, in the order of the reference. A new key is a line here and a property with its default in
    /// ``Configuration``. `concierge config --reference` then prints the table for `config/README.md`, and a test
    /// checks that it is there.
    package static let all: [ConfigurationKey] = [
        .init(
            "host", .address, \.host, flag: true,
            "Where the public listener listens; with `systemd` at the socket that systemd passes on. `concierge health` "
                + "then looks for it at `port` on loopback."),
        .init("port", .integer(0...65_535), \.port, flag: true, "Port of the public listener; 0 takes a free one."),
        .init(
            "base_path", .optional(.basePath), \.basePath, flag: true,
            "Path under which a proxy publishes the listeners. Every address that the server gives begins with it, and "
                + "a request may. Without it `X-Forwarded-Prefix` from `proxies.networks` says the path."),
        .init(
            "workers", .integer(1...256), \.workers, flag: true, defaultText: "usable processor cores",
            "Threads that serve the public listener. The admin listener has one more."),
        .init(
            "store", .store, \.store, flag: true,
            "Where sessions live: in memory only, in an SQLite file (relative to the working directory), or in "
                + "Redis, which several servers can share."),
        .init(
            "redis_password_file", .optional(.path), \.redisPasswordFile,
            "File with the password for Redis on its only line."),
        .init(
            "redis_sentinel_password_file", .optional(.path), \.redisSentinelPasswordFile,
            "File with the password for the sentinels of `redis+sentinel://` on its only line."),
        .init(
            "redis_prefix", .redisPrefix, \.redisPrefix, flag: true,
            "Prefix of all keys and channels in Redis. Installations that share a Redis need different ones."),
        .init(
            "redis_replicas", .integer(0...10), \.redisReplicas,
            "Replicas of Redis that must have a write before its response. With fewer, the write gets 503 and may "
                + "be stored."),
        .init(
            "store_grace", .duration(.zero ... .seconds(600)), \.storeGrace,
            "How long Redis may be unreachable before the server reports that it is not ready. Requests get 503 "
                + "meanwhile. No effect with other stores."),
        .init(
            "durability", .choice, \.durability,
            "When a write is on the disk: before its response, at most `sync_interval` later, or when the "
                + "operating system writes it. No effect with `memory` and Redis, whose own `appendfsync` decides."),
        .init(
            "sync_interval", .duration(.milliseconds(1) ... .seconds(60)), \.syncInterval,
            "With `durability` `interval`: the longest span of writes that a power cut may lose."),
        .init(
            "encryption_keys_file", .optional(.path), \.encryptionKeysFile,
            "File with a key on each line, `NAME:BASE64` of 32 bytes. The first one encrypts services and labels "
                + "in the store, all of them decrypt. No effect with `memory`."),
        .init(
            "backup.directory", .optional(.path), \.backup.directory,
            "Directory, one for each server, to which the running server backs an SQLite store up. It has to exist; "
                + "without this key there are no backups."),
        .init(
            "backup.every", .duration(.seconds(1) ... .days(365)), \.backup.every,
            "How long after a backup the next one begins, also across restarts. One that fails is tried again after five "
                + "minutes, or earlier if this is shorter."),
        .init("backup.keep", .integer(1...10_000), \.backup.keep, "How many backups stay: the newest."),
        .init(
            "services", .optional(.path), \.services, flag: true,
            defaultText: "`services` beside the file, if it is there", "Directory of service files, see below."),
        .init(
            "flows", .optional(.path), \.flows, flag: true,
            defaultText: "`flows` beside the file, if it is there", "Directory of flow files, see below."),
        .init(
            "flows_public", .flowsPublic, \.flowsPublic,
            "What flows show without a token: names, titles, screens and events (`true`), nothing, or their "
                + "`\"definitions\"`."),
        .init(
            "main_flow", .optional(.flowName), \.mainFlow,
            "The flow of journey `main`, which starts at its first request."),
        .init(
            "orphaned_journeys", .choice, \.orphanedJourneys,
            "What to do when a journey needs a version of a flow that is not loaded: refuse to start, or restart "
                + "the journey."),
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
            "How often the last use of a session is stored at most. After a crash a session may live this much "
                + "longer, never shorter. No effect with `memory`."),
        .init(
            "session_idle_timeout", .duration(.seconds(1) ... .days(365)), \.sessionIdleTimeout,
            "A session ends when it has not been used for this long."),
        .init(
            "session_lifetime", .duration(.seconds(1) ... .days(3650)), \.sessionLifetime,
            "A session ends after this long, used or not."),
        .init(
            "session_idle_timeout_max", .duration(.seconds(1) ... .days(365)), \.sessionIdleTimeoutMax,
            defaultText: "`session_idle_timeout`",
            "The longest `idle_timeout` that a back end may choose for a session at a sign-in."),
        .init(
            "session_lifetime_max", .duration(.seconds(1) ... .days(3650)), \.sessionLifetimeMax,
            defaultText: "`session_lifetime`",
            "The longest `lifetime` that a back end may choose for a session at a sign-in, counted from then."),
        .init(
            "watching_extends", .boolean, \.watchingExtends,
            "Whether watching a session keeps it alive: an open event stream, a GET that waits, a 304."),
        .init(
            "expired_retention", .duration(.zero ... .days(30)), \.expiredRetention,
            "An expired session is refused at once and deleted this much later, but not before the server has run "
                + "for as long, so that a start with a wrong clock loses nothing. It is deleted at once while "
                + "three quarters of `max_sessions` are stored. No effect with `memory`."),
        .init(
            "case_lifetime", .duration(.zero ... .days(3650)), \.caseLifetime,
            "How long an expired session stays at most while a task of a journey is under way, from the journey's last "
                + "step on. A flow with `lives` says so itself."),
        .init(
            "session_notices", .optional(.taskName), \.sessionNotices,
            "The name of the tasks by which back ends are told that sessions begin, get a user, and end. They are "
                + "fetched, or sent where `tasks.<name>` says. With it an expired session is deleted at once; a start "
                + "waits for `expired_retention` with those that it finds."),
        .init(
            "max_sessions", .integer(1...100_000_000), \.maxSessions,
            "Most stored sessions, including expired ones that are not deleted yet. At the limit a new session "
                + "evicts an unused one older than 5 s, else the longest idle one without a user (5 min or more), "
                + "else such a one whose journeys wait for work, else gets 503. After a crash all sessions count as "
                + "just used."),
        .init("max_user_sessions", .integer(1...1_000_000), \.maxUserSessions, "Most sessions of one user."),
        .init(
            "user_sessions_at_limit", .choice, \.userSessionsAtLimit,
            "What happens when a user signs in beyond that limit: the oldest session ends, or the sign-in is "
                + "refused with 409."),
        .init(
            "max_resident_bytes", .bytes(1...1_125_899_906_842_624), \.maxResidentBytes,
            defaultText: "a quarter of the machine's or container's memory",
            "Most memory for sessions: 600 bytes each, plus their services and labels. Beyond it the least "
                + "recently used leave memory and are read from the store when needed. No effect with `memory`."),

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
            "Further keys, of which the server knows only the SHA-256. The log names the key that made a change."),
        .init(
            "admin.failed_tries", .quota, \.admin.failedTries,
            "Failed key attempts per address and period; then 429 without checking the key."),
        .init(
            "admin.connections", .integer(16...1_000_000), \.admin.connections,
            "Most open connections of the admin listener. At the limit the oldest without a complete request is closed for "
                + "a new one. Claims that wait for a task do not count."),

        .init(
            "tls.certificate", .optional(.path), \.tls.certificate,
            "PEM file with the certificate of both listeners, followed by its issuers. With it they speak HTTPS."),
        .init(
            "tls.key", .optional(.path), \.tls.key,
            "PEM file with the private key of that certificate, without a password."),
        .init(
            "tls.client_ca", .optional(.path), \.tls.clientCA,
            "PEM file with authorities. Clients of the admin listener must show a certificate that one of them "
                + "signed. No effect on the public listener."),

        .init(
            "redis_tls.ca", .optional(.path), \.redisTLS.authorities, defaultText: "the system's",
            "PEM file with the authorities of Redis' certificate, for `rediss://`. The files of `redis_tls` are "
                + "read again for each connection."),
        .init(
            "redis_tls.certificate", .optional(.path), \.redisTLS.certificate,
            "PEM file with the certificate that the server shows to Redis, followed by its issuers."),
        .init(
            "redis_tls.key", .optional(.path), \.redisTLS.key,
            "PEM file with the private key of that certificate, without a password."),

        .init(
            "cookie.secure", .boolean, \.cookie.secure,
            "Whether the session cookie is only sent over HTTPS. Set it to false for development only."),
        .init(
            "cookie.name", .cookieName, \.cookie.name,
            "Name of the session cookie. While it is secure, `__Host-` stands before it. Several installations on one "
                + "host need different names."),
        .init(
            "cookie.same_site", .choice, \.cookie.sameSite,
            "Whether browsers send the cookie with requests that pages of other sites cause: `none` does, and is needed "
                + "where the page is embedded in another site."),
        .init(
            "cookie.partitioned", .boolean, \.cookie.partitioned,
            "Whether browsers keep a cookie of its own for each site that embeds the page (CHIPS)."),
        .init(
            "cors.allowed_origins", .origins, \.cors.allowedOrigins,
            "Other web origins whose pages may call the public listener (CORS), also with the session cookie."),

        .init(
            "cors.allowed_fields", .fieldNames, \.cors.allowedFields,
            "Header fields that their pages may send, besides those that the API names: what libraries for tracing and "
                + "the like add to requests by themselves."),

        .init(
            "proxies.networks", .networks, \.proxies.networks,
            "Addresses of the proxies in front of the listeners. Only they are believed about a client's address."),
        .init(
            "proxies.field", .choice, \.proxies.field,
            "Where they state it: in this header field, or, with `proxy-protocol`, in the PROXY protocol header of "
                + "each connection to the public listener. Other fields are ignored, since proxies pass on what a "
                + "client wrote."),

        .init(
            "quotas.requests", .quota, \.quotas.requests,
            "Most requests per period from one address (for IPv6 from one /64). All may come at once; the quota "
                + "then refills evenly. Beyond it a request gets 429. Health checks and CORS preflights do not "
                + "count."),
        .init("quotas.sessions", .quota, \.quotas.sessions, "Most sessions per period created from one address."),
        .init(
            "quotas.session_requests", .quota, \.quotas.sessionRequests,
            "Most requests per period of one session. A write that many watch counts as more."),
        .init(
            "quotas.connections", .quota, \.quotas.connections,
            "Most new connections per period from one address. Further ones are closed before TLS begins. "
                + "`proxies.networks` have no limit."),
        .init(
            "quotas.exempt", .networks, \.quotas.exempt,
            "Clients without quotas. Requests forwarded by an unlisted proxy are never exempt; its clients share "
                + "one quota."),

        .init(
            "limits.target_bytes", .bytes(64...65_536), \.limits.targetBytes,
            "Longest request target: path and query."),
        .init("limits.header_count", .integer(8...1000), \.limits.headerCount, "Most header fields of a request."),
        .init(
            "limits.header_bytes", .bytes(256...262_144), \.limits.headerBytes,
            "Longest request line and header fields together."),
        .init("limits.query_arguments", .integer(1...256), \.limits.queryArguments, "Most arguments of a query."),
        .init(
            "limits.cookies", .integer(1...4096), \.limits.cookies,
            "Most cookies of a request. Browsers keep up to 180 of a domain."),
        .init(
            "limits.body_bytes", .bytes(1...67_108_864), \.limits.bodyBytes,
            "Longest request body of the public listener. The admin listener accepts 1 MiB, and any session that it exports."
        ),
        .init(
            "limits.document_bytes", .bytes(1...67_108_864), \.limits.documentBytes,
            "Largest state of a service, at most `limits.body_bytes`. The journeys of a session together may have "
                + "sixteen times as much."),
        .init(
            "limits.session_bytes", .bytes(1...1_073_741_824), \.limits.sessionBytes,
            "Most bytes of all services of a session. A write beyond it gets 413."),
        .init(
            "limits.total_bytes", .bytes(1...1_125_899_906_842_624), \.totalBytes,
            defaultText: "`17179869184`; with `memory` at most half of the machine's or container's memory",
            "Most bytes of the services and labels of all sessions. A write that needs more room gets 507; "
                + "everything else continues. The default is enough for a million sessions of 17 KiB. No effect "
                + "with Redis, whose own `maxmemory` decides."),
        .init(
            "limits.buffer_bytes", .bytes(1_048_576...1_099_511_627_776), \.limits.bufferBytes,
            "Memory for bodies over 4 KiB, shared equally by the workers. When it is full, the slowest clients are "
                + "disconnected; if none is slow, a request gets 503."),
        .init(
            "limits.connections", .integer(1...1_000_000), \.limits.connections,
            "Most open connections of the public listener. At the limit the longest idle ones make room for new "
                + "clients."),
        .init(
            "limits.address_connections", .integer(1...1_000_000), \.limits.addressConnections,
            "Most open connections from one address (for IPv6 from one /64). Further ones are closed at once. No "
                + "limit for `proxies.networks` and `quotas.exempt`."),
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
            "Memory of each connection. It must hold `limits.header_bytes`, 64 bytes for each field of "
                + "`limits.header_count` and one more, and 2 KiB for the response's head. An idle connection keeps a "
                + "page or two of it."),

        .init(
            "timeouts.header", .deadline, \.timeouts.header,
            "From the accept, or from the request line of a later request, to the end of the head."),
        .init("timeouts.body", .deadline, \.timeouts.body, "From the end of the head to the end of the body."),
        .init("timeouts.idle", .deadline, \.timeouts.idle, "How long a connection may stay open without a request."),
        .init("timeouts.handler", .deadline, \.timeouts.handler, "How long a response may take; then 504."),
        .init(
            "timeouts.write", .deadline, \.timeouts.write,
            "How long a client may take to read its response before it is disconnected."),

        .init(
            "log.format", .choice, \.log.format,
            "Format of log lines; `auto` is text on a terminal and JSON elsewhere."),
        .init(
            "log.level", .choice, \.log.level, "The least severe level that is written."),
        .init("log.requests", .boolean, \.log.requests, "Whether each request gets a line in the log."),
        .init(
            "log.users", .choice, \.log.users,
            "How log and audit lines name users: by their ids (`plain`), by a keyed hash of them, or not at all (`none`)."
        ),
        .init(
            "log.users_key_file", .optional(.path), \.log.usersKeyFile, defaultText: "a new key at each start",
            "File with the key of that hash on its only line: the base64 of 32 random bytes. With it a user has the same "
                + "hash after a restart and on every server."),
        .init(
            "log.audit", .audit, \.log.audit,
            "Where audit lines go, which say who changed or read what through the admin listener: into the log "
                + "(`stderr`), or into a file (relative to the working directory) that SIGHUP opens again."),

        .init(
            "journeys.max", .integer(1...1000), \.journeys.max,
            "Most journeys of a session. Beyond it only `main` can be started; any other gets 409."),

        .init(
            "idempotency.retention", .duration(.seconds(1) ... .days(30)), \.idempotency.retention,
            "How long the response to an `Idempotency-Key` is kept."),
        .init(
            "idempotency.max_entries", .integer(1...10_000_000), \.idempotency.maxEntries,
            "Most remembered keys of requests that name no session, such as those that create one. The oldest go "
                + "first. A response counts as one more for each KiB."),
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

extension Setting where Value == Duration {
    /// The deadline of a phase of a request. Below 10 ms no client could meet it; above an hour it protects nothing.
    fileprivate static var deadline: Self { .duration(.milliseconds(10) ... .hours(1)) }
}

extension Duration {
    fileprivate static func hours(_ count: Int) -> Duration { .seconds(count * 3600) }
    fileprivate static func days(_ count: Int) -> Duration { .seconds(count * 86_400) }
}
