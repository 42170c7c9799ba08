/// The order in which a request's handler finishes and its connection is suspended and resumed. The handler may finish
/// on any thread at any moment, and a suspended connection must be resumed exactly once.
///
/// A handler that reads the body piece by piece may also want the next piece. The connection is then resumed for the
/// piece, and suspended again when the piece has arrived.
///
/// A value with one method for each event, without a lock or a socket. `Exchange` keeps it under its lock.
struct ExchangeState {
    private enum State {
        /// The handler runs, still inside the call that handed the request over.
        case running
        /// The handler finished inside that call.
        case finishedAtOnce(HTTPResponse)
        /// The handler began to wait for the next piece inside that call.
        case wantingAtOnce
        /// That call returned without a response, or a piece has arrived. The connection is about to be suspended.
        case suspending
        /// The response came before the suspension: resume as soon as the connection is suspended.
        case finishedWhileSuspending(HTTPResponse)
        /// The handler wanted the next piece before the suspension.
        case wantingWhileSuspending
        case suspended
        /// The connection was told to resume. It takes the response when it runs again.
        case resuming(HTTPResponse)
        /// The connection was told to resume to read the next piece.
        case resumingForPiece
        /// The connection reads until the next piece has arrived.
        case reading
        /// The handler responded without waiting for the piece.
        case finishedWhileReading(HTTPResponse)
        case over
    }

    private var state = State.running

    /// The handler, or a deadline, has an answer. True: the caller must resume the connection now.
    mutating func finish(_ response: consuming HTTPResponse) -> Bool {
        switch state {
        case .running, .wantingAtOnce: state = .finishedAtOnce(response)
        case .suspending, .wantingWhileSuspending: state = .finishedWhileSuspending(response)
        case .suspended:
            state = .resuming(response)
            return true
        case .resumingForPiece: state = .resuming(response)
        case .reading: state = .finishedWhileReading(response)
        // Too late: a deadline came first, or the client has disconnected.
        case .finishedAtOnce, .finishedWhileSuspending, .finishedWhileReading, .resuming, .over: break
        }
        return false
    }

    /// The handler waits for the next piece. When this returns true, the caller must resume the connection.
    mutating func want() -> Bool {
        switch state {
        case .running: state = .wantingAtOnce
        case .suspending: state = .wantingWhileSuspending
        case .suspended:
            state = .resumingForPiece
            return true
        case .wantingAtOnce, .wantingWhileSuspending, .resumingForPiece, .reading: break
        case .finishedAtOnce, .finishedWhileSuspending, .finishedWhileReading, .resuming, .over: break
        }
        return false
    }

    /// The call that handed the request over is about to return. Without a response the connection is then suspended.
    mutating func leave() -> HTTPResponse? {
        var left = State.suspending
        swap(&left, &state)
        switch consume left {
        case .finishedAtOnce(let response):
            state = .over
            return response
        case .wantingAtOnce: state = .wantingWhileSuspending
        default: break
        }
        return nil
    }

    /// The connection is suspended now. When this returns true, the caller resumes it at once.
    mutating func suspended() -> Bool {
        switch state {
        case .finishedWhileSuspending(let response): state = .resuming(response)
        case .wantingWhileSuspending: state = .resumingForPiece
        default:
            state = .suspended
            return false
        }
        return true
    }

    /// The connection was suspended with a piece and runs again. Returns whether the handler wants the next piece.
    mutating func runsForPiece() -> Bool {
        guard case .resumingForPiece = state else { return false }
        state = .reading
        return true
    }

    /// A piece, or the end of the body, has arrived, and the connection is about to be suspended.
    mutating func pieceCame() {
        switch state {
        case .reading: state = .suspending
        case .finishedWhileReading(let response): state = .finishedWhileSuspending(response)
        default: break
        }
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
