import Synchronization

/// One whole request. Immutable, but for the note that a handler may leave for the log.
public final class HTTPRequest: Sendable {
    /// Names this request in the answer's `Request-Id` and in the log: the client's own if it sent a usable one.
    public let id: RequestID
    public let method: HTTPMethod
    public let fields: HTTPRequestFields
    private let wholeBody: [UInt8]
    /// Whether the client sends the body only when it is asked to (`Expect: 100-continue`), and has not been asked yet.
    public let awaitsContinue: Bool
    /// The body of a request whose route takes it piece by piece; nil when it has none, or comes as a whole.
    public let reader: HTTPBodyReader?
    /// Who sent it, as far as the connection tells: a proxy's address when there is one in between.
    public let peer: PeerAddress
    /// The route that was found, and what its parameters stand for.
    public let match: RouteMatch
    /// When its worker turned to it, in nanoseconds of the monotonic clock: what it waited in the kernel before is not
    /// known.
    public let receivedAt: UInt64
    /// Which of the server's workers serves it, from 0: something to spread counters by.
    public let worker: Int

    private let ownNote = Mutex<Note?>(nil)

    init(
        id: RequestID, method: HTTPMethod, head: consuming HTTPHead, body: [UInt8], awaitsContinue: Bool = false,
        reader: HTTPBodyReader? = nil, peer: PeerAddress, match: consuming RouteMatch, receivedAt: UInt64, worker: Int
    ) {
        self.id = id
        self.method = method
        self.fields = HTTPRequestFields(head: head)
        wholeBody = body
        self.awaitsContinue = awaitsContinue
        self.reader = reader
        self.peer = peer
        self.match = match
        self.receivedAt = receivedAt
        self.worker = worker
    }

    /// The body, once it is there as a whole; empty when there is none, or when `reader` has it.
    ///
    /// - Throws: ``HTTPError/bodyIsAwaited`` while the client waits to be asked for it. The server then asks, and runs the
    ///   handler again from its beginning. So check whatever can be checked first, and change nothing before.
    public var body: [UInt8] {
        get throws(HTTPError) {
            try requireBody()
            return wholeBody
        }
    }

    /// Throws what ``body`` throws: for a handler that takes the body piece by piece.
    public func requireBody() throws(HTTPError) {
        if awaitsContinue { throw .bodyIsAwaited }
    }

    /// 128 bits that a handler leaves for whoever observes the server, such as the id of who asked.
    public struct Note: Sendable, Equatable {
        public let high, low: UInt64

        public init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// Nil until a handler sets it, which it does before it answers, and on one thread at a time.
    public var note: Note? {
        get { ownNote.withLock { $0 } }
        set { ownNote.withLock { $0 = newValue } }
    }

    /// The request target as it was sent.
    public var target: String { String(decoding: fields.head.slice(fields.head.target), as: UTF8.self) }

    /// The arguments of the query, decoded.
    /// - Throws: `HTTPError` 400 `invalid_target` when an escape is broken or does not give UTF-8.
    public var query: QueryArguments {
        get throws(HTTPError) {
            let start = fields.head.target.lowerBound
            let query = fields.head.withTarget { RequestTarget($0).query }
            return try QueryArguments(query.map { fields.head.slice($0.lowerBound + start..<$0.upperBound + start) })
        }
    }

    /// What a parameter of the route stands for, decoded.
    /// - Precondition: the route has a parameter of that name: anything else is a mistake in the program.
    public func parameter(_ name: String) -> String {
        guard let index = match.route?.pattern.parameterNames.firstIndex(of: name) else {
            preconditionFailure("route \(match.route?.pattern.text ?? "-") has no parameter \(name)")
        }
        var text = ""
        lendParameter(index) { raw in
            // The router refused what cannot be decoded.
            let escaped = raw.offset(of: UInt8(ascii: "%")).flatMap { _ in PercentEncoding.decode(ArraySlice(raw)) }
            text = escaped.map { String(decoding: $0, as: UTF8.self) } ?? String(decoding: raw, as: UTF8.self)
        }
        return text
    }

    /// What the parameter at that place of the route stands for, as it was sent, without making a string.
    public func parameterBytes(_ index: Int) -> ArraySlice<UInt8> {
        let span = match.parameters[index]
        return fields.head.slice(Int(span.lower)..<Int(span.upper))
    }

    /// Gives those bytes to `body`, without counting a reference.
    public func lendParameter(_ index: Int, to body: (UnsafeRawBufferPointer) -> Void) {
        let span = match.parameters[index]
        fields.head.lend(Int(span.lower)..<Int(span.upper), to: body)
    }
}
