import CMicroHTTPD

/// The address of a server and its limits. Every default is safe on the open internet.
public struct HTTPServerConfiguration: Sendable {
    /// An address or a name; empty for all addresses of the machine. Or `unix:` and the path of a socket that owner and
    /// group may use; its clients count as `127.0.0.1`. The file of a server that was killed is replaced.
    public var host = "127.0.0.1"
    /// 0 takes a free port, see `HTTPServer.port`.
    public var port: UInt16 = 0
    /// The descriptor of a stream socket that listens already, in place of ``host`` and ``port``: one that another
    /// process has made and may give to the next server. Clients that have not been accepted when the server stops are
    /// left to that one.
    public var inheritedListener: Int32?
    /// Threads that serve connections.
    public var workers = 2
    /// The most bytes of a request, and the most connections.
    public var limits = Limits()
    /// How long each phase of a request may take.
    public var timeouts = Timeouts()
    /// Speaks HTTPS (TLS 1.2 and 1.3) with this certificate; `nil` for plain HTTP.
    public var tls: TLSCertificate?
    /// Fields of every response.
    public var commonFields: HTTPFields = [
        "X-Content-Type-Options": "nosniff", "Referrer-Policy": "no-referrer",
        "Cross-Origin-Resource-Policy": "same-origin",
    ]

    /// The proxies in front of the server, whose word about the client's address counts; `nil` for none.
    public var trustedProxies: TrustedProxies?

    /// The path under which proxies publish the server, such as `/concierge`; `nil` for none, or for what trusted
    /// proxies say in `X-Forwarded-Prefix`. Addresses that the server gives begin with it (``HTTPRequest/basePath``),
    /// and a request may have it, since not every proxy takes it away.
    ///
    /// - Precondition: ``isBasePath(_:)``
    public var basePath: String?

    /// Called for each request before it is handled, on the worker's thread; once more with its body when the client
    /// has asked first (`Expect: 100-continue`). Throws an error to refuse the request, for the error renderer; returns
    /// fields to be added to its response, whatever that is.
    public var admission: (@Sendable (HTTPRequest) throws -> HTTPFields?)?

    /// Pages of other origins that may call the server; `nil` for none.
    public var crossOrigin: CrossOrigin?

    /// Adds a response's fields to libmicrohttpd one by one, as for a version with unknown internals. For tests: it is
    /// slower and otherwise the same.
    var addsFieldsSingly = false

    /// Works like a program without CMicroHTTPDHooks. For tests.
    var ignoresHooks = false

    /// Starts with every default.
    public init() {}

    /// Sizes are in bytes.
    public struct Limits: Sendable {
        /// The request target; beyond it 414.
        public var targetBytes = 2048
        /// The request line and all fields; beyond it 431. Proxies and browsers send up to 16 KiB, most of it cookies.
        public var headBytes = 16_384
        /// Field lines; beyond it 431.
        public var fields = 100
        /// Arguments of a query; beyond it 400.
        public var queryArguments = 64
        /// Cookies; beyond it 431. Browsers keep up to 180 of a domain.
        public var cookies = 256
        /// The body; beyond it 413.
        public var bodyBytes = 1 << 20
        /// Memory for bodies over 4 KiB, shared equally by the workers. When it is full, the slowest clients are
        /// disconnected; if none is slow, a request gets 503.
        public var bufferBytes = 256 << 20
        /// Open connections. At this number idle ones make room for clients that wait in the kernel's backlog.
        public var connections = 16_384
        /// A new connection is accepted at once, and at the limit the one that has been without a complete request for
        /// longest is closed. So a flood of connections keeps nobody out. Requests that wait for what others do
        /// (``HTTPRequest/bePatient()``) do not count.
        public var admitsAtOnce = false
        /// Open connections of one address, of IPv6 of one /64; beyond it a connection is closed at once. Trusted
        /// proxies may have any number.
        public var connectionsOfAddress = Int.max
        /// New connections of one address; beyond it a connection is closed before its TLS handshake. Trusted proxies
        /// may open any number.
        public var newConnectionsOfAddress: Quota?
        /// Other addresses that may have any number of both.
        public var uncountedAddresses: [AddressRange] = []
        /// Memory of a connection in libmicrohttpd. It holds a request's head, the index of its fields (64 bytes each)
        /// and the response's head (2048 bytes). Less than ``leastConnectionMemory`` is rounded up.
        public var connectionMemory = 25_600

        /// The least ``connectionMemory`` with which every request within these limits gets a response.
        public var leastConnectionMemory: Int { cmhd_least_memory(max(0, headBytes), max(0, fields)) }

        /// Starts with every default.
        public init() {}
    }

    /// Each limits the whole of its phase: a byte now and then does not extend it.
    public struct Timeouts: Sendable, Equatable {
        /// From accepting the connection, or from the request line of a later request, to the end of the head.
        public var header = Duration.seconds(10)
        /// From the end of the head to the end of the body.
        public var body = Duration.seconds(30)
        /// From the whole request to its response, for handlers that wait; beyond it 504.
        public var handler = Duration.seconds(30)
        /// The same for a request that waits for what others do, see ``HTTPRequest/bePatient()``; for a body of
        /// ``HTTPBodySource/init(ask:end:)``, from one piece to the next.
        public var patient = Duration.seconds(90)
        /// From the response until the client has received its last byte; for a streamed response, for each few
        /// kilobytes.
        public var write = Duration.seconds(30)
        /// From a response to the next request line on the same connection. Longer than proxies keep connections to a
        /// server (nginx, Varnish, Squid and AWS 60 s, Traefik 90 s, Caddy 120 s): if both closed after the same time,
        /// a request could meet a connection that is just being closed, and proxies do not repeat a POST.
        public var idle = Duration.seconds(130)

        /// Starts with every default.
        public init() {}
    }
}

extension Duration {
    /// Whole milliseconds, at least 0.
    var milliseconds32: UInt32 {
        let (seconds, attoseconds) = components
        return UInt32(clamping: seconds &* 1000 + attoseconds / 1_000_000_000_000_000)
    }
}

/// Observes every response, including those without a handler: refusals, deadlines, unknown paths.
///
/// A class, so that calling it copies nothing.
public protocol HTTPServerObserver: AnyObject, Sendable {
    /// Called on the thread of the request's worker (``HTTPRequest/worker``) before the response is sent. It must be
    /// quick and must not block.
    ///
    /// - Parameters:
    ///   - response: without the fields that every response has, such as `Request-Id`.
    ///   - nanoseconds: since `HTTPRequest.receivedAt`.
    func answered(_ request: HTTPRequest, with response: borrowing HTTPResponse, after nanoseconds: UInt64)

    /// An internal error that the client does not see: an error that a handler threw, or a malformed field.
    func failed(_ request: HTTPRequest, _ problem: any Error)

    /// Whether it reads ``HTTPRequest/remarks`` of the requests that begin now.
    var takesRemarks: Bool { get }
}

extension HTTPServerObserver {
    /// No.
    public var takesRemarks: Bool { false }
}
