/// Lets a ``PromptHandler`` put its answer off until something else has done its part, without a task that waits for it.
///
/// ```swift
/// routes.on(.put, "/things", promptly: { request, deferral in
///     let answer = deferral.begin()
///     disk.write(request.body) { answer.give { HTTPResponse(.noContent) } }
///     return nil
/// }) { … }
/// ```
public struct HTTPDeferral {
    // Lent by who asks the handler, and made for each request: not worth counting references for.
    private let request: Unmanaged<HTTPRequest>
    private let core: Unmanaged<ServerCore>
    private let connection: OpaquePointer
    /// Retained for who made this, once something was put off.
    private(set) var begun: Unmanaged<Exchange>?

    init(_ request: HTTPRequest, core: ServerCore, connection: OpaquePointer) {
        self.request = .passUnretained(request)
        self.core = .passUnretained(core)
        self.connection = connection
    }

    /// From now on the answer comes later, and the handler returns nil. If it throws, that is the answer.
    public mutating func begin() -> HTTPLateAnswer {
        if let begun { return HTTPLateAnswer(exchange: begun.takeUnretainedValue()) }
        let exchange = Exchange(
            request: request.takeUnretainedValue(), core: core.takeUnretainedValue(), connection: connection)
        begun = .passRetained(exchange)
        return HTTPLateAnswer(exchange: exchange)
    }
}

/// An answer that was put off. If it is never given the client waits until its deadline, and is answered 504.
public struct HTTPLateAnswer: Sendable {
    let exchange: Exchange

    /// The request whose response is deferred.
    public var request: HTTPRequest { exchange.request }

    /// From any thread, once. `make` is called on the thread that read the request, also when the client has gone or the
    /// deadline was first; the answer is then of no effect. Nil from it: the route's ``HTTPHandler`` is asked.
    public func give(by make: @escaping @Sendable () throws -> HTTPResponse?) { exchange.answer(by: make) }
}
