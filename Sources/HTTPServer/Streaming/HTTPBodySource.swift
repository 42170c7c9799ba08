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
