/// The order in which a request's handler finishes and its connection is suspended and resumed: the handler may
/// finish on any thread, at any moment, and the connection must be resumed exactly once if it was suspended.
///
/// A value, one method an event, no lock and no socket: `Exchange` keeps it under its lock.
struct ExchangeState {
    private enum State {
        /// The handler runs, still inside the call that handed the request over.
        case running
        /// It finished inside that call.
        case finishedAtOnce(HTTPResponse)
        /// That call returned without an answer; the connection is about to be suspended.
        case suspending
        /// The answer came in between: resume as soon as it is suspended.
        case finishedWhileSuspending(HTTPResponse)
        case suspended
        /// The connection was told to resume, and takes the answer when it runs again.
        case resuming(HTTPResponse)
        case over
    }

    private var state = State.running

    /// The handler, or a deadline, has an answer. True: the caller must resume the connection now.
    mutating func finish(_ response: HTTPResponse) -> Bool {
        switch state {
        case .running: state = .finishedAtOnce(response)
        case .suspending: state = .finishedWhileSuspending(response)
        case .suspended:
            state = .resuming(response)
            return true
        // Too late: there was a deadline, or the client has gone.
        case .finishedAtOnce, .finishedWhileSuspending, .resuming, .over: break
        }
        return false
    }

    /// The call that handed the request over is about to return: with an answer, or else to be suspended.
    mutating func leave() -> HTTPResponse? {
        if case .finishedAtOnce(let response) = state {
            state = .over
            return response
        }
        state = .suspending
        return nil
    }

    /// The connection is suspended now. True: resume it at once.
    mutating func suspended() -> Bool {
        if case .finishedWhileSuspending(let response) = state {
            state = .resuming(response)
            return true
        }
        state = .suspended
        return false
    }

    /// The connection runs again.
    mutating func resumed() -> HTTPResponse? {
        defer { state = .over }
        if case .resuming(let response) = state { return response }
        return nil
    }

    /// The connection broke: there is nobody to answer.
    mutating func abandon() { state = .over }
}
