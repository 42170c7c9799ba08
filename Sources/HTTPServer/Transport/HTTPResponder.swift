import Synchronization

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
/// A responder that is dropped responds with an error, 500, and so does its completion. If a response comes neither
/// way, the client waits until the deadline, and gets 504.
public struct HTTPResponder: ~Copyable, Sendable {
    private let response: DeferredResponse

    init(_ exchange: Exchange) { response = DeferredResponse(exchange) }

    /// - Parameter make: makes the response, or throws the error that becomes it. It is called on the thread that read
    ///   the request, also when the client has gone or the deadline came first; the response has no effect then.
    public consuming func respond(_ make: @escaping @Sendable () throws -> HTTPResponse) { response.complete(make) }

    /// The same for a function that calls back with a result.
    ///
    /// - Returns: a function to be called once. Later calls have no effect.
    @inlinable  // So that the type is known: the runtime looks a generic type up for each request otherwise.
    public consuming func completion<Value: Sendable>(
        _ make: @escaping @Sendable (Result<Value, any Error>) throws -> HTTPResponse
    ) -> @Sendable (Result<Value, any Error>) -> Void {
        let response = takeResponse()
        return { result in response.complete { try make(result) } }
    }

    @usableFromInline
    consuming func takeResponse() -> DeferredResponse { response }

    func add(_ followUp: @escaping HTTPOutcome.FollowUp) { response.exchange.followUps.append(followUp) }
}

/// What is behind a responder and its completion.
@usableFromInline
final class DeferredResponse: Sendable {
    let exchange: Exchange
    private let isComplete = Atomic(false)

    init(_ exchange: Exchange) { self.exchange = exchange }

    deinit { complete { throw ResponderDropped() } }

    @usableFromInline
    func complete(_ make: @escaping @Sendable () throws -> HTTPResponse) {
        if !isComplete.exchange(true, ordering: .relaxed) { exchange.complete(make) }
    }
}

private struct ResponderDropped: Error, CustomStringConvertible {
    var description: String { "a handler dropped its responder without a response" }
}
