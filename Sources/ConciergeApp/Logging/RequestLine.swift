import HTTPServer
import Sessions

/// What a request's line says. Never the path as it was sent, the query, a field's value or a body: those may hold
/// secrets, and an id of a session, which opens nothing, is all that tells whose request it was.
struct RequestLine {
    let id: String
    /// `"method":"GET","route":"/v1/session","listener":"public"`: the same for all requests of a route.
    let labels: [UInt8]
    let status: UInt16
    let microseconds: UInt64
    /// Of the body that is sent.
    let bytes: Int
    let sessionID: SessionID?
    let traceID: TraceID?

    var level: Configuration.Log.Level { status >= 500 ? .error : .info }

    /// Passes it as a JSON object that begins with `level` and `event`. Nearly always without any allocation.
    func withJSON(_ body: (UnsafeRawBufferPointer) -> Void) {
        // What is fixed or bounded takes 330 bytes at most.
        let size = 400 + id.utf8.count + labels.count
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
        line.append(level == .error ? "{\"level\":\"error\"" : "{\"level\":\"info\"")
        line.append(",\"event\":\"request\",\"request_id\":\"")
        line.appendToken(id)
        line.append("\",")
        line.append(labels)
        line.append(",\"status\":")
        line.appendDecimal(UInt64(status))
        line.append(",\"duration_ms\":")
        line.appendDecimal(microseconds / 1_000)
        line.append(".")
        line.appendThreeDigits(microseconds % 1_000)
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
