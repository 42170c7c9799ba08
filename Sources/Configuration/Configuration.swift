import HTTPServer
import Navigation
import RedisStorage
import Sessions
import Storage

/// All settings of an operator. The initial values of the properties are the defaults.
///
/// Each property has a line in ``ConfigurationKey/all`` with its name in the file, its range and its meaning. File,
/// environment, flags, `concierge config` and `config/README.md` follow from that table. A test starts from
/// `Configuration()` and changes what it needs.
package struct Configuration: Sendable, Equatable {
    package var host = "0.0.0.0"
    package var port = 8080
    /// The path under which proxies publish both listeners.
    package var basePath: String?
    package var workers = UsableCores.count
    /// In the working directory, so that a server without configuration keeps its sessions.
    package var store = Store.sqlite("data/concierge.db")
    /// A file with the password for Redis; the password itself becomes a part of ``store``.
    package var redisPasswordFile: String?
    /// The same for its sentinels.
    package var redisSentinelPasswordFile: String?
    /// The files for TLS to Redis; they become a part of ``store`` as well.
    package var redisTLS = RedisTLS()
    /// In front of all keys and channels in Redis.
    package var redisPrefix = RedisStore.usualPrefix
    package var redisReplicas = 0
    /// How long Redis may be away before the server is not ready. It is longer than a connection needs to be made
    /// again, and so short that a server which answers nothing is out of a load balancer within two seconds.
    package var storeGrace = Duration.seconds(1)
    package var durability = Durability.commit
    package var syncInterval = Duration.milliseconds(100)
    package var encryptionKeysFile: String?
    /// What is in that file; nil for a store that is not encrypted.
    package var encryptionKeys: DocumentKeys?
    package var backup = Backup()
    /// The directory of service files, relative to the working directory; `nil` for none.
    package var services: String?
    /// The directory of flow files; `nil` for none.
    package var flows: String?
    /// What of flows can be looked at without a token.
    package var flowsPublic = FlowsPublic.outlines
    /// The flow of journey `main`, which is started when it is first asked for; nil when there is none.
    package var mainFlow: String?
    package var orphanedJourneys = FlowEngine.OrphanPolicy.refuse
    /// Whether the public listener serves the demo.
    package var demo = false
    package var drainTimeout = Duration.seconds(8)
    package var drainDelay = Duration.zero
    package var rotationGrace = Duration.seconds(30)
    /// Follows the idle timeout until it is set.
    package var touchInterval: Duration {
        get {
            chosenTouchInterval
                ?? .milliseconds(SessionSettings.touchInterval(forIdleTimeout: sessionIdleTimeout.milliseconds))
        }
        set { chosenTouchInterval = newValue }
    }
    private var chosenTouchInterval: Duration?
    package var sessionIdleTimeout = Duration.seconds(30 * 60)
    /// Whether a client that only watches a session keeps it alive.
    package var watchingExtends = false
    package var expiredRetention = Duration.seconds(3600)
    package var caseLifetime = Duration.seconds(30 * 24 * 3600)
    package var sessionLifetime = Duration.seconds(12 * 3600)
    /// Follows the idle timeout until it is set, like the next.
    package var sessionIdleTimeoutMax: Duration {
        get { chosenIdleTimeoutMax ?? sessionIdleTimeout }
        set { chosenIdleTimeoutMax = newValue }
    }
    private var chosenIdleTimeoutMax: Duration?
    package var sessionLifetimeMax: Duration {
        get { chosenLifetimeMax ?? sessionLifetime }
        set { chosenLifetimeMax = newValue }
    }
    private var chosenLifetimeMax: Duration?
    package var maxSessions = 1_000_000
    package var maxUserSessions = 100
    package var userSessionsAtLimit = UserSessionsAtLimit.endOldest
    /// The bytes that sessions take in memory when the store keeps all of them. Follows the machine until it is set.
    package var maxResidentBytes: Int {
        get { chosenResidentBytes ?? UsableMemory.bytes() / 4 }
        set { chosenResidentBytes = newValue }
    }
    private var chosenResidentBytes: Int?
    /// The bytes of all sessions together. Follows the store until it is set.
    package var totalBytes: Int {
        get {
            let most = 17_179_869_184
            return chosenTotalBytes ?? (store == .memory ? min(most, UsableMemory.bytes() / 2) : most)
        }
        set { chosenTotalBytes = newValue }
    }
    private var chosenTotalBytes: Int?
    package var admin = Admin()
    package var tls = TLS()
    package var cookie = Cookie()
    package var cors = CORS()
    package var proxies = Proxies()
    package var quotas = Quotas()
    package var limits = Limits()
    /// A byte now and then does not extend them.
    package var timeouts = HTTPServerConfiguration.Timeouts()
    package var log = Log()
    package var journeys = Journeys()
    package var idempotency = Idempotency()
    /// Tasks that are sent to back ends; all others are fetched.
    package var tasks = SentTasks()
    /// The name of the tasks by which back ends are told of sessions.
    package var sessionNotices: String?

    package init() {}

    /// Where tasks are sent, by their names.
    package struct SentTasks: Sendable, Equatable {
        private var byName: [String: SentTask] = [:]

        package var names: [String] { byName.keys.sorted() }

        /// A name that nothing was said about has the defaults.
        package subscript(name: String) -> SentTask {
            get { byName[name] ?? SentTask() }
            set { byName[name] = newValue }
        }
    }

    /// How tasks of a name are sent.
    package struct SentTask: Sendable, Equatable {
        package var url: String?
        package var secretFile: String?
        /// What is in that file.
        package var secret: WebhookSecret?
        package var timeout = Duration.seconds(5)
        package var concurrency = 16
    }

    /// Where tasks are sent.
    package var taskTargets: [TaskTarget] {
        tasks.names.compactMap { name in
            let task = tasks[name]
            guard let url = task.url, let secret = task.secret else { return nil }
            return TaskTarget(
                name: name, url: url, secret: secret, timeout: task.timeout, concurrency: task.concurrency)
        }
    }

    /// When a write is on the disk, for stores on a disk.
    package enum Durability: String, Sendable, CaseIterable {
        /// Before the response.
        case commit
        /// At most `syncInterval` later.
        case interval
        /// When the operating system writes it.
        case none
    }

    /// The backups that a running server makes of a store on disk.
    package struct Backup: Sendable, Equatable {
        /// `nil` for none.
        package var directory: String?
        package var every = Duration.seconds(24 * 3600)
        package var keep = 7
    }

    /// The second listener, for trusted back ends and operators.
    package struct Admin: Sendable, Equatable {
        package var host = "127.0.0.1"
        package var port = 8081
        /// The key that callers must send; `nil` is allowed only on loopback. Read from `keyFile` if that is set.
        package var key: Secret?
        package var keyFile: String?
        /// Digests of further keys.
        package var keyHashes: [AdminKeyHash] = []
        /// Wrong keys of an address; `nil` for any number.
        package var failedTries: Quota? = Quota(count: 600, window: .seconds(60))
        package var connections = 1024
    }

    /// The files of certificate and key; `nil` for plain HTTP.
    package struct TLS: Sendable, Equatable {
        package var certificate: String?
        package var key: String?
        /// The authorities that sign certificates of clients of the admin listener; `nil` when clients need none.
        package var clientCA: String?
    }

    /// Sessions of browsers.
    package struct Cookie: Sendable, Equatable {
        /// Without the prefix `__Host-`, which it has while it is secure.
        package var name = "concierge"
        package var secure = true
        package var sameSite = SameSite.lax
        package var partitioned = false

        /// RFC 6265 bis, section 5.6.7.
        package enum SameSite: String, Sendable, CaseIterable {
            case strict, lax, none
        }
    }

    /// Web pages of other origins.
    package struct CORS: Sendable, Equatable {
        package var allowedOrigins: [String] = []
        /// What libraries add to requests by themselves: for tracing (W3C Trace Context and Baggage, Sentry, Zipkin,
        /// Jaeger, Datadog, New Relic, Elastic, Instana, Dynatrace), against forgery (axios, Angular, jQuery), for
        /// caches, and of htmx. None of them names the client or its rights to the server.
        package var allowedFields = [
            "traceparent", "tracestate", "baggage", "sentry-trace", "b3", "x-b3-traceid", "x-b3-spanid",
            "x-b3-parentspanid", "x-b3-sampled", "x-b3-flags", "uber-trace-id", "x-datadog-trace-id",
            "x-datadog-parent-id", "x-datadog-origin", "x-datadog-sampling-priority", "x-datadog-tags", "newrelic",
            "elastic-apm-traceparent", "request-context", "x-instana-t", "x-instana-s", "x-instana-l", "x-dtpc",
            "x-dtreferer", "x-requested-with", "x-xsrf-token", "x-csrf-token", "cache-control", "pragma",
            "hx-request", "hx-current-url", "hx-target", "hx-trigger", "hx-trigger-name", "hx-boosted",
        ]
    }

    /// The proxies in front of the public listener.
    package struct Proxies: Sendable, Equatable {
        package var networks: [AddressRange] = []
        package var field = TrustedProxies.Field.xForwardedFor
    }

    /// What a client may take of the public listener; `nil` for as much as it likes.
    package struct Quotas: Sendable, Equatable {
        /// Of an address. An office of some hundred people, or the customers behind one address of a carrier, do not
        /// come near it.
        package var requests: Quota? = Quota(count: 60_000, window: .seconds(60))
        package var sessions: Quota? = Quota(count: 600, window: .seconds(60))
        /// New ones. Handshakes of TLS take a tenth of a processor core at this rate, and an office that has all the
        /// connections that an address may have can open them anew at once.
        package var connections: Quota? = Quota(count: 12_000, window: .seconds(60))
        /// Of a token.
        package var sessionRequests: Quota? = Quota(count: 6_000, window: .seconds(60))
        /// Loopback is a proxy that nobody has named, with all clients behind it, or somebody on this machine.
        package var exempt = ["127.0.0.0/8", "::1"].compactMap(AddressRange.init)
    }

    /// The limits of a request. All are checked before a handler is called.
    package struct Limits: Sendable, Equatable {
        package var targetBytes = 2048
        package var headerCount = 100
        package var headerBytes = 16_384
        package var queryArguments = 64
        package var cookies = 256
        package var bodyBytes = 131_072
        package var documentBytes = 65_536
        package var sessionBytes = 4_194_304
        package var bufferBytes = 268_435_456
        package var connections = 16_384
        package var addressConnections = 4096
        package var addressStreams = 1024
        package var sessionStreams = 32
        package var connectionMemory = 25_600

        /// The least `connectionMemory` that the other limits need.
        package var leastConnectionMemory: Int {
            var limits = HTTPServerConfiguration.Limits()
            (limits.headBytes, limits.fields) = (headerBytes, headerCount)
            return limits.leastConnectionMemory
        }
    }

    /// The log on standard error, and the audit lines.
    package struct Log: Sendable, Equatable {
        package var format = Format.auto
        package var level = Level.info
        package var requests = true
        package var users = Users.hash
        package var usersKeyFile: String?
        /// What is in that file; nil for a key of this process alone.
        package var usersKey: UserHashKey?
        package var audit = Audit.stderr

        /// How lines name users.
        package enum Users: String, Sendable, CaseIterable {
            /// By their ids.
            case plain
            /// By a keyed hash of their ids.
            case hash
            /// Not at all.
            case none
        }

        /// Where the lines go that say what the admin listener did to data, and for whom.
        package enum Audit: Sendable, Equatable {
            /// To the log.
            case stderr
            /// To the file of that path, relative to the working directory.
            case file(String)
        }

        /// `auto` is text on a terminal and JSON elsewhere.
        package enum Format: String, Sendable, CaseIterable {
            case auto, json, text
        }

        /// In ascending order of severity.
        package enum Level: String, Sendable, CaseIterable {
            case debug, info, warning, error
        }
    }

    /// What happens when a user who has as many sessions as a user may have signs in to one more.
    package enum UserSessionsAtLimit: String, Sendable, CaseIterable {
        case endOldest = "end_oldest"
        case refuse
    }

    /// The limits of a session's journeys.
    package struct Journeys: Sendable, Equatable {
        package var max = 16
    }

    /// The stored responses to `POST` requests with an `Idempotency-Key`.
    package struct Idempotency: Sendable, Equatable {
        package var retention = Duration.seconds(24 * 3600)
        package var maxEntries = 100_000
    }
}

/// Where tasks of a name are sent.
package struct TaskTarget: Sendable {
    package let name: String
    package let url: String
    package let secret: WebhookSecret
    package let timeout: Duration
    package let concurrency: Int

    /// Whether the requests cross a network unencrypted.
    var isReadable: Bool {
        let scheme = "http://"
        guard url.hasPrefix(scheme) else { return false }
        let host = url.dropFirst(scheme.count).prefix { $0 != "/" && $0 != ":" }
        return host != "localhost" && !host.hasPrefix("127.") && !url.hasPrefix("http://[::1]")
    }
}

/// A text that must not be printed: it appears as stars when it is described, interpolated or dumped.
package struct Secret: Sendable, Equatable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    package static let mask = "********"

    /// The text itself. The caller must not log it or send it elsewhere.
    package let revealed: String

    package init(_ text: String) {
        revealed = text
    }

    package var description: String { Self.mask }
    package var debugDescription: String { Self.mask }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
