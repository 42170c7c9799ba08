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
    /// What middleware does to the response, the outermost first.
    private var transforms: [HTTPOutcome.Transform] = []

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit {
        exchange?.complete { throw ResponderDropped() }
    }

    /// - Parameter make: makes the response, or throws the error that becomes it. It is called on the thread that read the
    ///   request, also when the client has gone or the deadline came first; the response has no effect then.
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
