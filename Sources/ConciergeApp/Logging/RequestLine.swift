import HTTPServer
import Sessions

/// What a request's line says. Never the path as it was sent, the query, a field's value or a body: those may hold
/// secrets, and an id of a session, which opens nothing, is all that tells whose request it was.
///
/// Here is what fits in registers; the request's id and labels are only ever lent.
struct RequestLine {
    let status: UInt16
    let microseconds: UInt64
    /// Of the body that is sent.
    let bytes: Int
    let sessionID: SessionID?
    let traceID: TraceID?

    var level: Configuration.Log.Level { .ofRequest(status: status) }

    /// How many bytes `write` needs.
    static func room(id: RequestID, labels: UnsafeRawBufferPointer) -> Int {
        // What is fixed or bounded takes 330 bytes at most.
        400 + id.count + labels.count
    }

    /// A JSON object that begins with `level` and `event`, and a line break.
    /// - Parameters:
    ///   - id: of the request.
    ///   - labels: see `RequestLabels`.
    func write(
        id: RequestID, labels: UnsafeRawBufferPointer, into memory: UnsafeMutableRawBufferPointer
    ) -> UnsafeRawBufferPointer {
        var line = LineBuilder(memory)
        if level == .error {
            line.append("{\"level\":\"error\",\"event\":\"request\",\"request_id\":\"")
        } else {
            line.append("{\"level\":\"info\",\"event\":\"request\",\"request_id\":\"")
        }
        id.lend { line.append($0) }
        line.append(labels)
        line.appendThreeDigits(UInt32(min(status, 999)))
        line.append(",\"duration_ms\":")
        line.appendDecimal(microseconds / 1_000)
        line.append(".")
        line.appendThreeDigits(UInt32(microseconds % 1_000))
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
