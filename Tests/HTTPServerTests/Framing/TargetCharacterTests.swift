import HTTPServer
import HTTPTestClient
import Testing

@Suite("The characters of a target")
struct TargetCharacterTests {
    /// RFC 3986, appendix A: unreserved, reserved but for the fragment's, and the percent sign.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x30...0x39, 0x41...0x5A, 0x61...0x7A: true
        default: "-._~:/?[]@!$&'()*+,;=%".utf8.contains(byte)
        }
    }

    /// Targets are looked at in pieces of sixteen bytes: at each place of a piece, and in targets shorter than one.
    @Test("are those that a URI may have, wherever in it", arguments: [3, 16, 17, 40])
    func characters(length: Int) async throws {
        try await withServer { server in
            let port = server.port
            try await blocking {
                var connection = try RawConnection(port: port)
                for place in Set([1, 7, 15, length / 2, length - 1]) where place < length {
                    // A blank, a NUL and line ends make another request line: they have tests of their own.
                    let others: [UInt8] = [0x20, 0x09, 0x0A, 0x0D] + (HostileRequest.isBefore1 ? [] : [0x0B, 0x0C])
                    for byte in UInt8(1)...255 where !others.contains(byte) {
                        var target = [UInt8(ascii: "/")] + [UInt8](repeating: UInt8(ascii: "a"), count: length - 1)
                        target[place] = byte
                        try connection.send(Array("GET ".utf8) + target + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8))
                        let response = try connection.readResponse()
                        let isRefused = response.text.contains("target is not valid")
                        if isRefused == Self.isAllowed(byte) { Issue.record("\(byte) at \(place) of \(length)") }
                        if response["Connection"] == "close" { connection = try RawConnection(port: port) }
                    }
                }
            }
        }
    }
}
