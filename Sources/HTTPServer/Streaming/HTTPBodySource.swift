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
    /// The next bytes; nil at the end.
    let next: @Sendable () async throws -> [UInt8]?

    /// Takes the function that produces the next bytes; `nil` ends the body.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) { self.next = next }
}
