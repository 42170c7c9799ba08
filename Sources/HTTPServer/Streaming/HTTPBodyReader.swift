import Synchronization

/// The body of a request whose route reads it piece by piece, see `RouterBuilder.onPieces(_:_:_:)`.
///
/// ```swift
/// while let piece = try await reader.next() { count += piece.count }
/// ```
///
/// The server reads from the client only while the handler waits for a piece, so a slow handler slows the client down.
/// When a handler responds before the end, the response is sent at once, the rest is not read, and the connection ends.
public final class HTTPBodyReader: Sendable {
    private struct State {
        var piece: [UInt8]?
        var isAtEnd = false
        var isBroken = false
        var waiting: CheckedContinuation<Outcome, Never>?
        weak var exchange: Exchange?

        /// The next result for the reader, if there is one.
        mutating func take() -> Outcome? {
            if let piece {
                self.piece = nil
                return .success(piece)
            }
            if isAtEnd { return .success(nil) }
            return isBroken ? .failure(HTTPBodyBroken()) : nil
        }
    }

    private typealias Outcome = Result<[UInt8]?, HTTPBodyBroken>

    private let state: Mutex<State>

    /// - Parameter first: bytes that have arrived already.
    init(first: [UInt8]) { state = Mutex(State(piece: first)) }

    /// A reader for a client that waits to be asked for its body: ``next()`` throws, and the server asks when the
    /// handler ends with that error.
    static var awaiting: HTTPBodyReader {
        let reader = HTTPBodyReader(first: [])
        reader.state.withLock { $0 = State(isBroken: true) }
        return reader
    }

    /// The next bytes; `nil` at the end. One task at a time may call it.
    ///
    /// - Throws: ``HTTPBodyBroken`` when the rest will not come.
    public func next() async throws(HTTPBodyBroken) -> [UInt8]? {
        let outcome = await withCheckedContinuation { (continuation: CheckedContinuation<Outcome, Never>) in
            let (outcome, exchange) = state.withLock { state -> (Outcome?, Exchange?) in
                if let outcome = state.take() { return (outcome, nil) }
                state.waiting = continuation
                return (nil, state.exchange)
            }
            if let outcome { continuation.resume(returning: outcome) } else { exchange?.wantPiece() }
        }
        return try outcome.get()
    }

    /// Sets the exchange that requests more bytes.
    func belongs(to exchange: Exchange) { state.withLock { $0.exchange = exchange } }

    /// - Parameter piece: empty at the end of the body.
    func deliver(_ piece: [UInt8]) {
        wake { state in
            if piece.isEmpty { state.isAtEnd = true } else { state.piece = piece }
        }
    }

    /// No more bytes will arrive.
    func fail() { wake { $0.isBroken = true } }

    private func wake(_ change: (inout State) -> Void) {
        let woken = state.withLock { state -> (CheckedContinuation<Outcome, Never>, Outcome)? in
            change(&state)
            guard let waiting = state.waiting, let outcome = state.take() else { return nil }
            state.waiting = nil
            return (waiting, outcome)
        }
        if let (waiting, outcome) = woken { waiting.resume(returning: outcome) }
    }
}

/// The client disconnected, was too slow or violated the framing of the body, or the server stops.
public struct HTTPBodyBroken: Error, Sendable, CustomStringConvertible {
    public var description: String { "the request's body broke off" }
}
