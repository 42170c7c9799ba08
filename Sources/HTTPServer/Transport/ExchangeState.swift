/// The order in which a request's handler finishes and its connection is suspended and resumed. The handler may finish
/// on any thread at any moment, and a suspended connection must be resumed exactly once.
///
/// A value with one method for each event, without a lock or a socket. `Exchange` keeps it under its lock.
struct ExchangeState {
    private enum State {
        /// The handler runs, still inside the call that handed the request over.
        case running
        /// The handler finished inside that call.
        case finishedAtOnce(HTTPResponse)
        /// That call returned without a response. The connection is about to be suspended.
        case suspending
        /// The response came before the suspension: resume as soon as the connection is suspended.
        case finishedWhileSuspending(HTTPResponse)
        case suspended
        /// The connection was told to resume. It takes the response when it runs again.
        case resuming(HTTPResponse)
        case over
    }

    private var state = State.running

    /// The handler, or a deadline, has an answer. True: the caller must resume the connection now.
    mutating func finish(_ response: consuming HTTPResponse) -> Bool {
        switch state {
        case .running: state = .finishedAtOnce(response)
        case .suspending: state = .finishedWhileSuspending(response)
        case .suspended:
            state = .resuming(response)
            return true
        // Too late: a deadline came first, or the client has disconnected.
        case .finishedAtOnce, .finishedWhileSuspending, .resuming, .over: break
        }
        return false
    }

    /// The call that handed the request over is about to return. Without a response the connection is then suspended.
    mutating func leave() -> HTTPResponse? {
        var left = State.suspending
        swap(&left, &state)
        guard case .finishedAtOnce(let response) = consume left else { return nil }
        state = .over
        return response
    }

    /// The connection is suspended now. When this returns true, the caller resumes it at once.
    mutating func suspended() -> Bool {
        guard case .finishedWhileSuspending(let response) = state else {
            state = .suspended
            return false
        }
        state = .resuming(response)
        return true
    }

    /// The connection runs again.
    mutating func resumed() -> HTTPResponse? {
        defer { state = .over }
        if case .resuming(let response) = state { return response }
        return nil
    }

    /// Whether the call that handed the request over is still running.
    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// The connection broke, so no response can be sent.
    mutating func abandon() { state = .over }
}
