/// Responds to a request whose handler returned ``HTTPOutcome/deferred(_:)``: once, from any thread.
///
/// ```swift
/// routes.on(.put, "/things", handler: { request in
///     .deferred { responder in
///         disk.write(request.body, then: responder.completion { HTTPResponse(text: "\(try $0.get()) bytes") })
///     }
/// })
/// ```
///
/// A responder that is dropped responds with 500. When nothing responds, the client gets 504 at the deadline.
public struct HTTPResponder: ~Copyable, Sendable {
    private var exchange: Exchange?
    /// Middleware's changes to the response, the outermost first.
    private var transforms: [HTTPOutcome.Transform] = []

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit {
        exchange?.complete { throw ResponderDropped() }
    }

    /// - Parameter make: makes the response, or throws an error that the server turns into one. The thread that read
    ///   the request calls it, even when the client has disconnected or the deadline came first; the response then has
    ///   no effect.
    public consuming func respond(_ make: @escaping @Sendable () throws -> HTTPResponse) {
        let transforms = transforms
        exchange.take()?.complete { try transforms.response(make) }
    }

    /// The same for a function that calls back with a result.
    ///
    /// - Returns: a function that must be called once.
    public consuming func completion<Value: Sendable>(
        _ make: @escaping @Sendable (Result<Value, any Error>) throws -> HTTPResponse
    ) -> @Sendable (Result<Value, any Error>) -> Void {
        let exchange = exchange.take()
        let transforms = transforms
        return { result in exchange?.complete { try transforms.response { try make(result) } } }
    }

    mutating func add(_ transform: @escaping HTTPOutcome.Transform) { transforms.append(transform) }
}

extension [HTTPOutcome.Transform] {
    fileprivate func response(_ make: () throws -> HTTPResponse) throws -> HTTPResponse {
        if isEmpty { return try make() }
        return try reversed().reduce(Result(catching: make)) { result, transform in
            Result { try transform(result) }
        }.get()
    }
}

private struct ResponderDropped: Error, CustomStringConvertible {
    var description: String { "a handler dropped its responder without a response" }
}
