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
/// A responder that is dropped responds with an error, 500. If a response comes neither way, the client waits until the
/// deadline, and gets 504.
public struct HTTPResponder: ~Copyable, Sendable {
    private var exchange: Exchange?

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit {
        exchange?.complete { throw ResponderDropped() }
    }

    /// - Parameter make: makes the response, or throws the error that becomes it. It is called on the thread that read the
    ///   request, also when the client has gone or the deadline came first; the response has no effect then.
    public consuming func respond(_ make: @escaping @Sendable () throws -> HTTPResponse) {
        takeExchange()?.complete(make)
    }

    /// The same for a function that calls back with a result.
    ///
    /// - Returns: a function that must be called once.
    @inlinable  // For the type to be known: the runtime looks a generic type up for each request otherwise.
    public consuming func completion<Value: Sendable>(
        _ make: @escaping @Sendable (Result<Value, any Error>) throws -> HTTPResponse
    ) -> @Sendable (Result<Value, any Error>) -> Void {
        let exchange = takeExchange()
        return { result in exchange?.complete { try make(result) } }
    }

    /// The exchange, to be completed once.
    @usableFromInline
    consuming func takeExchange() -> Exchange? { exchange.take() }

    func add(_ transform: @escaping HTTPOutcome.Transform) { exchange?.transforms.append(transform) }
}

private struct ResponderDropped: Error, CustomStringConvertible {
    var description: String { "a handler dropped its responder without a response" }
}
