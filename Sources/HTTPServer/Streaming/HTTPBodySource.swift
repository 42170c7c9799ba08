/// A body that is made piece by piece while it is sent, so that it never lies in memory as a whole.
///
/// ```swift
/// let lines = LineSource()  // an actor
/// return HTTPResponse(.ok, fields: [.contentType: "text/plain"], source: HTTPBodySource { try await lines.next() })
/// ```
///
/// The next piece is asked for when the client has taken the one before: who reads slowly makes it wait, and only one
/// piece is in memory. When it throws, the connection ends without the body's end, which a client of HTTP/1.1 sees. It
/// is cancelled, or not asked any more, when the client leaves or the server stops.
public final class HTTPBodySource: Sendable {
    /// The next bytes; nil at the end.
    let next: @Sendable () async throws -> [UInt8]?

    /// Takes the function that produces the next bytes; `nil` ends the body.
    public init(next: @escaping @Sendable () async throws -> [UInt8]?) { self.next = next }
}
