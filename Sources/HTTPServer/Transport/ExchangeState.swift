/// The order in which a request's handler finishes and its connection is suspended and resumed: the handler may
/// finish on any thread, at any moment, and the connection must be resumed exactly once if it was suspended.
///
/// A handler that takes the body piece by piece may also want the next piece: the connection is then resumed for that,
/// and suspended again when the piece is there.
///
/// A value, one method an event, no lock and no socket: `Exchange` keeps it under its lock.
struct ExchangeState {
    private enum State {
        /// The handler runs, still inside the call that handed the request over.
        case running
        /// It finished inside that call.
        case finishedAtOnce(HTTPResponse)
        /// Inside that call it has come to wait for the next piece.
        case wantingAtOnce
        /// That call returned without an answer, or a piece has come; the connection is about to be suspended.
        case suspending
        /// The answer came in between: resume as soon as it is suspended.
        case finishedWhileSuspending(HTTPResponse)
        /// The next piece was wanted in between.
        case wantingWhileSuspending
        case suspended
        /// The connection was told to resume, and takes the answer when it runs again.
        case resuming(HTTPResponse)
        /// The connection was told to resume, for the next piece.
        case resumingForPiece
        /// The connection runs, until the next piece is there.
        case reading
        /// The handler has not waited for it.
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
        // Too late: there was a deadline, or the client has gone.
        case .finishedAtOnce, .finishedWhileSuspending, .finishedWhileReading, .resuming, .over: break
        }
        return false
    }

    /// The handler waits for the next piece. True: the caller must resume the connection now.
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

    /// The call that handed the request over is about to return: with an answer, or else to be suspended.
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

    /// The connection is suspended now. True: resume it at once.
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

    /// The connection, which was suspended with a piece, runs again. Whether the next one is wanted.
    mutating func runsForPiece() -> Bool {
        guard case .resumingForPiece = state else { return false }
        state = .reading
        return true
    }

    /// A piece, or the end of the body, has come, and the connection is about to be suspended.
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

    /// Whether the call that handed the request over is under way.
    var isRunning: Bool {
        if case .running = state { true } else { false }
    }

    /// The connection broke: there is nobody to answer.
    mutating func abandon() { state = .over }
}
