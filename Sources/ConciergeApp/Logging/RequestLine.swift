import HTTPServer
import Sessions

/// What a request's line says. Never the path as it was sent, the query, a field's value or a body: those may hold
/// secrets, and an id of a session, which opens nothing, is all that tells whose request it was.
struct RequestLine {
    let id: String
    let labels: RequestLabels
    let status: UInt16
    let microseconds: UInt64
    /// Of the body that is sent.
    let bytes: Int
    let sessionID: SessionID?
    let traceID: TraceID?

    var level: Configuration.Log.Level { .ofRequest(status: status) }

    /// Passes it as a JSON object that begins with `level` and `event`. Nearly always without any allocation.
    @inline(__always)
    func withJSON(_ body: (UnsafeRawBufferPointer) -> Void) {
        // What is fixed or bounded takes 330 bytes at most.
        let size = 400 + id.utf8.count + labels.bytes.count
        if size <= Self.stackBytes {
            withUnsafeTemporaryAllocation(byteCount: Self.stackBytes, alignment: 8) { body(write(into: $0)) }
        } else {
            let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: size, alignment: 8)
            defer { memory.deallocate() }
            body(write(into: memory))
        }
    }

    /// The most that `withUnsafeTemporaryAllocation` takes from the stack without asking how much is left.
    private static let stackBytes = 1024

    private func write(into memory: UnsafeMutableRawBufferPointer) -> UnsafeRawBufferPointer {
        var line = LineBuilder(memory)
        if level == .error {
            line.append("{\"level\":\"error\",\"event\":\"request\",\"request_id\":\"")
        } else {
            line.append("{\"level\":\"info\",\"event\":\"request\",\"request_id\":\"")
        }
        line.appendToken(id)
        line.append(labels.bytes)
        line.appendDecimal(UInt64(status))
        line.append(",\"duration_ms\":")
        line.appendDecimal(microseconds / 1_000)
        line.append(".")
        line.appendDecimal(microseconds % 1_000, width: 3)
        line.append(",\"bytes\":")
        line.appendDecimal(UInt64(clamping: bytes))
        if let sessionID {
            line.append(",\"session_id\":\"ses_")
            line.appendHexadecimal(sessionID.high)
            line.appendHexadecimal(sessionID.low)
            line.append("\"")
        }
        if let traceID {
            line.append(",\"trace_id\":\"")
            line.appendHexadecimal(traceID.high)
            line.appendHexadecimal(traceID.low)
            line.append("\"")
        }
        line.append("}\n")
        return line.bytes
    }
}

extension Configuration.Log.Level {
    /// Of the line of a request that was answered so.
    static func ofRequest(status: UInt16) -> Self { status >= 500 ? .error : .info }
}
