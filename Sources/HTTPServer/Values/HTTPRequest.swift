import Synchronization

/// One whole request. Immutable, except for what a handler may leave for the server's observer.
public final class HTTPRequest: Sendable {
    /// Identifies the request in the response's `Request-Id` and in the log: the client's own id if it sent a usable
    /// one.
    public let id: RequestID
    /// The method. `HEAD` stays `HEAD`, even when a route for `GET` responds.
    public let method: HTTPMethod
    /// The header fields as they were sent.
    public let fields: HTTPRequestFields
    private let wholeBody: [UInt8]
    /// Whether the client sends the body only when it is asked to (`Expect: 100-continue`), and has not been asked yet.
    public let awaitsContinue: Bool
    /// The address of the connection's other end: a proxy's if there is one.
    public let peer: PeerAddress
    /// The client's address: ``peer``, or what trusted proxies say (``HTTPServerConfiguration/trustedProxies``).
    public let client: PeerAddress
    /// What stands before the path of each address that the response gives: ``HTTPServerConfiguration/basePath``, or
    /// what a trusted proxy says; empty for nothing. It has no final slash.
    public let basePath: String
    /// The matched route and its parameters.
    public let match: RouteMatch
    /// When its worker began with it, in nanoseconds of the monotonic clock. The time before that, in the kernel, is
    /// unknown.
    public let receivedAt: UInt64
    /// The index of the server's worker that serves it. Counters can be spread by it.
    public let worker: Int
    /// Whether the server's observer reads ``remarks``.
    public let takesRemarks: Bool

    /// What handlers and middleware leave.
    private struct Notes {
        var note: Note?
        var remarks: [(name: StaticString, text: String)] = []
        var fields: HTTPFields?
        var attachment: (any AnyObject & Sendable)?
        var counts: [(name: StaticString, count: Int)] = []
        var isPatient = false
        var hasChangedNothing = false
    }

    private let notes = Mutex(Notes())

    init(
        id: RequestID, method: HTTPMethod, fields: consuming HTTPRequestFields, body: [UInt8],
        awaitsContinue: Bool = false, peer: PeerAddress, client: PeerAddress? = nil, basePath: String = "",
        match: consuming RouteMatch, receivedAt: UInt64, worker: Int, takesRemarks: Bool = false
    ) {
        self.id = id
        self.method = method
        self.fields = fields
        wholeBody = body
        self.awaitsContinue = awaitsContinue
        self.peer = peer
        self.client = client ?? peer
        self.basePath = basePath
        self.match = match
        self.receivedAt = receivedAt
        self.worker = worker
        self.takesRemarks = takesRemarks
    }

    /// The whole body; empty when there is none.
    ///
    /// - Throws: ``HTTPError/bodyIsAwaited`` while the client waits to be asked for it. The server then asks, and calls
    ///   the handler again from its beginning. So check everything else first, and change nothing before.
    public var body: [UInt8] {
        get throws(HTTPError) {
            if awaitsContinue { throw .bodyIsAwaited }
            return wholeBody
        }
    }

    /// Whether the body is so long that it is not parsed on the worker's thread: that takes up to 15 µs for each KiB.
    public var isLong: Bool { wholeBody.count >= Self.longBody }

    static let longBody = 16_384

    var isPatient: Bool { notes.withLock(\.isPatient) }

    /// Lets the handler wait for `timeouts.patient` in place of `timeouts.handler`, because it waits for something that
    /// others do. Call it before the handler returns its outcome.
    public func bePatient() { notes.withLock { $0.isPatient = true } }

    /// Whether a handler said that the request, which might have changed something, did not.
    public var hasChangedNothing: Bool { notes.withLock(\.hasChangedNothing) }

    /// Says that the request has changed nothing, before the handler responds.
    public func noteNoChange() { notes.withLock { $0.hasChangedNothing = true } }

    /// 128 bits that a handler leaves for the server's observer, such as the id of the session.
    public struct Note: Sendable, Equatable {
        /// The two halves of the 128 bits.
        public let high, low: UInt64

        /// A note of two halves.
        public init(high: UInt64, low: UInt64) {
            self.high = high
            self.low = low
        }
    }

    /// `nil` until a handler sets it, before it responds.
    public var note: Note? {
        get { notes.withLock(\.note) }
        set { notes.withLock { $0.note = newValue } }
    }

    /// What handlers have said of the request for the server's observer, in order.
    public var remarks: [(name: StaticString, text: String)] { notes.withLock(\.remarks) }

    /// Says something of the request for the server's observer, such as which item it is about.
    ///
    /// - Parameters:
    ///   - name: a later remark of that name takes the place of the first.
    ///   - text: is evaluated only if the observer reads it.
    ///   - isForced: whether the remark is kept also if the observer does not say that it ``takesRemarks``.
    public func remark(_ name: StaticString, _ text: @autoclosure () -> String, isForced: Bool = false) {
        guard takesRemarks || isForced else { return }
        let text = text()
        notes.withLock { notes in
            if notes.remarks.isEmpty { notes.remarks.reserveCapacity(Self.usualRemarks) }
            // A handler that is called again says it again.
            if let place = notes.remarks.firstIndex(where: { $0.name.isSame(as: name) }) {
                notes.remarks[place].text = text
            } else {
                notes.remarks.append((name, text))
            }
        }
    }

    /// As many as most requests with remarks have.
    private static let usualRemarks = 6

    /// Numbers that a handler leaves for a middleware around it, before it responds.
    public var counts: [(name: StaticString, count: Int)] {
        get { notes.withLock { $0.counts } }
        set { notes.withLock { $0.counts = newValue } }
    }

    /// What a middleware leaves for the handlers inside it; `nil` until then.
    public var attachment: (any AnyObject & Sendable)? {
        get { notes.withLock { $0.attachment } }
        set { notes.withLock { $0.attachment = newValue } }
    }

    /// Adds fields to its response, whichever that will be.
    public func addToResponse(_ fields: HTTPFields) {
        notes.withLock { notes in
            if notes.fields == nil { notes.fields = fields } else { notes.fields?.add(contentsOf: fields) }
        }
    }

    /// What its response has besides; see ``HTTPServerConfiguration/admission``.
    var addedFields: HTTPFields? {
        get { notes.withLock { $0.fields } }
        set { notes.withLock { $0.fields = newValue } }
    }

    /// The request target as it was sent.
    public var target: String { String(decoding: fields.slice(fields.target), as: UTF8.self) }

    /// The host of the target, with its port if there is one; `nil` unless the target has the absolute-form.
    public var targetAuthority: String? {
        fields.withTarget { target in
            RequestTarget(target).authority.map { String(decoding: target[$0], as: UTF8.self) }
        }
    }

    /// Whether the target has a query, even an empty one.
    public var hasQuery: Bool { fields.withTarget { RequestTarget($0).query != nil } }

    /// The arguments of the query, decoded.
    /// - Throws: `HTTPError` 400 `invalid_target` when an escape is broken or does not give UTF-8.
    public var query: QueryArguments {
        get throws(HTTPError) {
            let start = fields.target.lowerBound
            let query = fields.withTarget { RequestTarget($0).query }
            return try QueryArguments(query.map { fields.slice($0.lowerBound + start..<$0.upperBound + start) })
        }
    }

    /// The decoded value of a parameter of the route.
    /// - Precondition: the route has a parameter of that name.
    public func parameter(_ name: String) -> String {
        guard let index = match.route?.pattern.parameterNames.firstIndex(of: name) else {
            preconditionFailure("route \(match.route?.pattern.text ?? "-") has no parameter \(name)")
        }
        var text = ""
        withParameter(index) { raw in
            // The router has refused parameters that cannot be decoded.
            let escaped = raw.offset(of: UInt8(ascii: "%")).flatMap { _ in PercentEncoding.decode(ArraySlice(raw)) }
            text = escaped.map { String(decoding: $0, as: UTF8.self) } ?? String(decoding: raw, as: UTF8.self)
        }
        return text
    }

    /// The value of the route's parameter at that place, as it was sent, without making a string.
    public func parameterBytes(_ index: Int) -> ArraySlice<UInt8> { fields.slice(parameterRange(index)) }

    /// Calls `body` with those bytes, without counting a reference.
    public func withParameter(_ index: Int, _ body: (UnsafeRawBufferPointer) -> Void) {
        fields.withBytes(parameterRange(index), body)
    }

    private func parameterRange(_ index: Int) -> Range<Int> {
        let place = match.parameters[index]
        return Int(place.lowerBound)..<Int(place.upperBound)
    }
}

extension StaticString {
    fileprivate func isSame(as other: StaticString) -> Bool {
        withUTF8Buffer { text in other.withUTF8Buffer { text.elementsEqual($0) } }
    }
}
