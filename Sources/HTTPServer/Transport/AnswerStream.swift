import CMicroHTTPD
import Glibc
import Synchronization

/// The body of a response on its way from its source to a connection. The bridge owns it from `cmhd_respond` until
/// `stream_released`.
///
/// `@unchecked Sendable`: C owns `connection`. It is used only to resume it, once for each time that
/// `AnswerStreamState` reports a suspension; a suspended connection stays until it is resumed.
final class AnswerStream: @unchecked Sendable {
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
        switch state.withLock({ $0.produce(into: room) }) {
        case .some(let result): return result
        case nil: break
        }
        ask()
        // A source that does not wait has delivered its piece already.
        return state.withLock { $0.produce(into: room) } ?? Int(CMHD_PRODUCE_LATER)
    }

    private func ask() {
        switch source.production {
        case .task(let next): ask(next)
        case .call(let ask, _):
            ask { [self] piece in
                switch piece {
                // An empty piece does not end the body.
                case .bytes(let bytes): if bytes.isEmpty { self.ask() } else { came(bytes) }
                case .end: came(nil)
                case .cut: resume(if: state.withLock { $0.fail() })
                }
            }
        }
    }

    private func ask(_ next: @escaping @Sendable () async throws -> [UInt8]?) {
        let asking = Task.immediate { [self] in
            do {
                var piece = try await next()
                // An empty piece does not end the body.
                while piece?.isEmpty == true { piece = try await next() }
                came(piece)
            } catch {
                if state.withLock({ $0.isWanted }) { report(error) }
                resume(if: state.withLock { $0.fail() })
            }
        }
        task.withLock { $0 = asking }
    }

    private func came(_ piece: [UInt8]?) { resume(if: state.withLock { $0.take(piece) }) }

    private func resume(if isSuspended: Bool) {
        if isSuspended { cmhd_resume(connection) }
    }

    /// See `cmhd_callbacks.stream_suspended`.
    func suspended() -> Bool { state.withLock { $0.suspended() } }

    /// See `cmhd_callbacks.stream_end`.
    func end() {
        resume(if: state.withLock { $0.fail() })
        task.withLock { $0 }?.cancel()
    }

    func released() {
        state.withLock { $0.release() }
        task.withLock { $0 }?.cancel()
        source.end()
    }
}
