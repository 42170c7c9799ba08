/// Where a server listens, and everything it will not put up with. Every limit has a default that is sane on the
/// open internet.
public struct HTTPServerConfiguration: Sendable {
    /// An address or a name; empty for every address of the machine.
    public var host = "127.0.0.1"
    /// 0 takes a free one, see `HTTPServer.port`.
    public var port: UInt16 = 0
    /// Threads that serve connections.
    public var workers = 2
    /// How large requests may be, and how many connections there may be.
    public var limits = Limits()
    /// How long each phase of a request may take.
    public var timeouts = Timeouts()
    /// Fields that every answer carries.
    public var commonFields: HTTPFields = ["X-Content-Type-Options": "nosniff"]

    /// Gives an answer's fields to libmicrohttpd one by one, as is done with a version of it whose insides are not
    /// known: for tests, since it is slower and nothing else.
    var addsFieldsSingly = false

    /// Serves as a program does that is not linked with CMicroHTTPDHooks: for tests.
    var ignoresHooks = false

    /// Starts with every default.
    public init() {}

    /// Sizes are in bytes.
    public struct Limits: Sendable {
        /// The request target; beyond it 414.
        public var targetBytes = 2048
        /// The request line and all fields; beyond it 431.
        public var headBytes = 4096
        /// Field lines; beyond it 431.
        public var fields = 48
        /// Arguments of a query; beyond it 400.
        public var queryArguments = 64
        /// Cookies; beyond it 431.
        public var cookies = 32
        /// The body; beyond it 413.
        public var bodyBytes = 1 << 20
        /// A body that its route takes piece by piece; beyond it 413. It is never in memory as a whole.
        public var streamedBodyBytes = 1 << 40
        /// Connections at a time; more wait in the kernel's backlog.
        public var connections = 16_384
        /// What libmicrohttpd keeps for a connection, in which a request's head, the index of its fields (64 bytes
        /// each), a copy of its cookies and the answer's head (1024 bytes) must find room. Less than what these
        /// limits need, cookies aside, is rounded up. When cookies of many kB find no room the answer is 431.
        public var connectionMemory = 8192

        /// Starts with every default.
        public init() {}
    }

    /// Each is a hard limit on the whole of its phase: a byte now and then does not hold it off.
    public struct Timeouts: Sendable {
        /// From accepting the connection, or from the request line of a later request, to the end of the head.
        public var header = Duration.seconds(10)
        /// From the end of the head to the end of the body; for each 4 KiB of one that is taken piece by piece.
        public var body = Duration.seconds(30)
        /// From the whole request to its answer, for handlers that wait; beyond it 504. With bodies that come or go
        /// piece by piece it is for each piece.
        public var handler = Duration.seconds(30)
        /// From the answer until the client has taken its last byte; for each few kilobytes of one that is made while it
        /// is sent.
        public var write = Duration.seconds(30)
        /// From an answer to the next request line on the same connection.
        public var idle = Duration.seconds(60)

        /// Starts with every default.
        public init() {}
    }
}

extension Duration {
    /// Whole milliseconds, at least 0, as C takes them.
    var milliseconds32: UInt32 {
        let (seconds, attoseconds) = components
        return UInt32(clamping: seconds &* 1000 + attoseconds / 1_000_000_000_000_000)
    }
}
