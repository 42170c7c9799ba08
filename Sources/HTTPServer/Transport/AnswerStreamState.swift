import CMicroHTTPD
import Glibc

/// The order of events in a streamed response: the connection asks for bytes, the source delivers them, and the
/// connection is suspended in between.
///
/// A value with one method for each event, without a lock or a socket. `AnswerStream` keeps it under its lock.
struct AnswerStreamState {
    private enum State {
        case idle
        /// The source was asked, and the connection is not suspended yet.
        case asked
        case suspended
        /// Bytes from `place` on are still to be sent.
        case has([UInt8], place: Int)
        case atEnd
        /// The source failed, or the stream has to end.
        case broken
        case over
    }

    private var state = State.idle

    /// Whether anything waits for the source's next piece.
    var isWanted: Bool {
        switch state {
        case .asked, .suspended: true
        case .idle, .has, .atEnd, .broken, .over: false
        }
    }

    /// The connection has room. Returns what `cmhd_callbacks.produce` returns; `nil` means: ask the source, then call
    /// again.
    mutating func produce(into room: UnsafeMutableRawBufferPointer) -> Int? {
        switch state {
        case .idle:
            state = .asked
            return nil
        case .has(let piece, let place):
            let count = min(room.count, piece.count - place)
            piece.withUnsafeBytes { room.copyMemory(from: UnsafeRawBufferPointer(rebasing: $0[place..<place + count])) }
            state = place + count == piece.count ? .idle : .has(piece, place: place + count)
            return count
        case .asked, .suspended: return Int(CMHD_PRODUCE_LATER)
        case .atEnd: return Int(CMHD_PRODUCE_END)
        case .broken, .over: return Int(CMHD_PRODUCE_BROKEN)
        }
    }

    /// The source delivered its next piece, or `nil` for the end. When this returns true, the caller must resume the
    /// connection.
    mutating func take(_ piece: [UInt8]?) -> Bool {
        change(to: piece.map { .has($0, place: 0) } ?? .atEnd)
    }

    /// The source failed, or the stream is to end. When this returns true, the caller must resume the connection.
    mutating func fail() -> Bool {
        if case .suspended = state { return change(to: .broken) }
        if case .over = state { return false }
        state = .broken
        return false
    }

    private mutating func change(to next: State) -> Bool {
        switch state {
        case .asked:
            state = next
            return false
        case .suspended:
            state = next
            return true
        // Too late.
        case .idle, .has, .atEnd, .broken, .over: return false
        }
    }

    /// The connection is suspended now. When this returns true, the caller resumes it at once.
    mutating func suspended() -> Bool {
        guard case .asked = state else { return true }
        state = .suspended
        return false
    }

    /// The connection will not ask again.
    mutating func release() { state = .over }
}
