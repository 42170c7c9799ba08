import HTTPServer
import HTTPTestClient

/// One good request on a connection of its own: what a server that is well answers.
func statusOfGoodRequest(port: UInt16) throws -> Int {
    let connection = try RawConnection(port: port)
    try connection.send("GET / HTTP/1.1\r\nHost: h\r\n\r\n")
    return try connection.readResponse().status
}

/// What came back on a connection that was sent some bytes.
struct Conversation {
    /// The first answer's; nil when the connection ended without one.
    var status: Int?
    /// The first answer, whole.
    var response: TestResponse?
    /// Behind the first answer.
    var rest: [UInt8] = []

    /// Sends, reads one answer, then to the end.
    /// - Parameter closing: whether the client says behind its bytes that it sends no more.
    init(port: UInt16, sending bytes: [UInt8], pieces: Int = .max, closing: Bool = false) throws {
        let connection = try RawConnection(port: port)
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, pieces == .max ? bytes.count : start + pieces)
            // The other side may have answered and closed before the last piece.
            do { try connection.send(Array(bytes[start..<end])) } catch { break }
            start = end
        }
        if closing { connection.finishSending() }
        do {
            let response = try connection.readResponse()
            self.response = response
            status = response.status
        } catch let failure as RawConnection.Failure where failure.isEndOfStream {
            return
        }
        rest = try connection.readToEnd()
    }
}
