import CMicroHTTPD
import Synchronization

/// The body of a response on its way from its source to a connection.
///
/// `@unchecked Sendable`: C owns `connection`. It is used only to resume it, once for each time that
/// `AnswerStreamState` reports a suspension; a suspended connection stays until it is resumed.
final class AnswerStream: Awaited, @unchecked Sendable {
    private let source: HTTPBodySource
    private let connection: OpaquePointer
    /// Reports what the source threw.
    private let report: @Sendable (any Error) -> Void
    private let state = Mutex(AnswerStreamState())
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ source: HTTPBodySource, on connection: OpaquePointer, report: @escaping @Sendable (any Error) -> Void) {
        self.source = source
        self.connection = connection
        self.report = report
    }

    /// See `cmhd_callbacks.produce`.
    func produce(into room: UnsafeMutableRawBufferPointer) -> Int {
        if let result = state.withLock({ $0.produce(into: room) }) { return result }
        ask()
        // A source that does not wait has delivered its piece already.
        return state.withLock { $0.produce(into: room) } ?? Int(CMHD_PRODUCE_LATER)
    }

    private func ask() {
        switch source.production {
        case .call(let ask, _): ask { [self] piece in came(piece) }
        case .task(let next):
            let asking = Task.immediate { [self] in
                do {
                    var piece = try await next()
                    while piece?.isEmpty == true { piece = try await next() }
                    came(piece.map { .bytes($0) } ?? .end)
                } catch {
                    if state.withLock({ $0.isWanted }) { report(error) }
                    came(.cut)
                }
            }
            task.withLock { $0 = asking }
        }
    }

    private func came(_ piece: HTTPBodySource.Piece) {
        switch piece {
        // An empty piece does not end the body.
        case .bytes(let bytes): if bytes.isEmpty { ask() } else { resume(if: state.withLock { $0.take(bytes) }) }
        case .end: resume(if: state.withLock { $0.take(nil) })
        case .cut: resume(if: state.withLock { $0.fail() })
        }
    }

    private func resume(if isSuspended: Bool) {
        if isSuspended { cmhd_resume(connection) }
    }

    override func suspended() -> Bool { state.withLock { $0.suspended() } }

    override func end(_ reason: cmhd_end) {
        resume(if: state.withLock { $0.fail() })
        task.withLock { $0 }?.cancel()
    }

    override func released() {
        state.withLock { $0.release() }
        task.withLock { $0 }?.cancel()
        source.end()
    }
}

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
        /// The source failed, or nothing more is wanted of it.
        case over
    }

    private var state = State.idle

    /// Whether anything waits for the source's next piece.
    var isWanted: Bool {
        switch state {
        case .asked, .suspended: true
        case .idle, .has, .atEnd, .over: false
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
        case .over: return Int(CMHD_PRODUCE_BROKEN)
        }
    }

    /// The source delivered its next piece, or `nil` for the end. When this returns true, the caller must resume the
    /// connection.
    mutating func take(_ piece: [UInt8]?) -> Bool {
        change(to: piece.map { .has($0, place: 0) } ?? .atEnd)
    }

    /// The source failed, or the stream is to end. When this returns true, the caller must resume the connection.
    mutating func fail() -> Bool {
        defer { state = .over }
        return change(to: .over)
    }

    private mutating func change(to next: State) -> Bool {
        // Otherwise it is too late.
        guard isWanted else { return false }
        defer { state = next }
        if case .suspended = state { return true }
        return false
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
