/// A response: status, fields, and a body that is there as a whole or produced while it is sent.
///
/// The transport sets `Content-Length`, `Date` and `Connection`. A body with 204 or 304 is not sent.
public struct HTTPResponse: Sendable {
    /// The status of the status line.
    public var status: HTTPStatus
    /// The header fields, without those of the transport.
    public var fields: HTTPFields
    /// The whole body, unless ``source`` produces it.
    public var body: [UInt8]
    /// Produces the body in place of ``body``.
    public var source: HTTPBodySource?

    /// A response with a whole body.
    public init(_ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields(), body: [UInt8] = []) {
        self.status = status
        self.fields = fields
        self.body = body
    }

    /// A response whose body is produced while it is sent.
    public init(_ status: HTTPStatus = .ok, fields: HTTPFields = HTTPFields(), source: HTTPBodySource) {
        self.init(status, fields: fields)
        self.source = source
    }

    /// A plain text, UTF-8.
    public init(_ status: HTTPStatus = .ok, text: String) {
        self.init(status, fields: [.contentType: "text/plain; charset=utf-8"], body: Array(text.utf8))
    }
}

/// A response body that is produced while it is sent, so that it is never in memory as a whole.
///
/// ```swift
/// let lines = LineSource()  // an actor
/// return HTTPResponse(.ok, fields: [.contentType: "text/plain"], source: HTTPBodySource { try await lines.next() })
/// ```
///
/// The next piece is produced when the client has taken the one before: a slow client makes the source wait, and only
/// one piece is in memory. When the source throws, the connection ends without the end of the body, which a client of
/// HTTP/1.1 notices. When the client disconnects or the server stops, the source is cancelled or not called again.
public final class HTTPBodySource: Sendable {
    /// What ``init(ask:end:)`` produces next.
    public enum Piece: Sendable {
        /// If there are none, the source is asked again.
        case bytes([UInt8])
        /// The body is complete.
        case end
        /// The connection ends without the end of the body.
        case cut
    }

    enum Production {
        /// The next bytes; nil at the end.
        case task(@Sendable () async throws -> [UInt8]?)
        case call(ask: @Sendable (@escaping @Sendable (Piece) -> Void) -> Void, end: @Sendable () -> Void)
    }

    let production: Production

    /// Takes the function that produces the next bytes; `nil` ends the body.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) { production = .task(next) }

    /// A source that waits for most of its life, without a task: for streams of which there are thousands.
    ///
    /// - Parameters:
    ///   - ask: asks for the next piece. Its argument is to be called once, before `ask` returns or later, on any
    ///     thread.
    ///   - end: called when nothing more is needed, maybe twice. The argument of `ask` has no effect any more.
    public init(
        ask: @escaping @Sendable (_ done: @escaping @Sendable (Piece) -> Void) -> Void,
        end: @escaping @Sendable () -> Void
    ) {
        production = .call(ask: ask, end: end)
    }

    deinit { end() }

    /// Nothing more is needed.
    func end() {
        if case .call(_, let end) = production { end() }
    }
}
