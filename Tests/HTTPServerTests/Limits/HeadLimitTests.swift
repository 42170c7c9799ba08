import HTTPServer
import HTTPTestClient
import SeededRandomness
import Testing

/// A head of just so many bytes, fields and cookies.
private struct Head {
    private static let start = "GET / HTTP/1.1\r\nHost: h\r\n"
    let text: String

    /// - Parameter bytes: at least what the names need.
    init(bytes: Int, fields: Int, cookies: Int, using random: inout SeededGenerator) {
        var lines = (1..<max(1, fields - (cookies > 0 ? 1 : 0))).map { _ in "A: b" }
        if cookies > 0 { lines.append("Cookie: " + Array(repeating: "a=b", count: cookies).joined(separator: "; ")) }
        lines.shuffle(using: &random)
        var missing = bytes - Self.start.utf8.count - lines.reduce(2) { $0 + $1.utf8.count + 2 }
        // The rest goes to some of them.
        while missing > 0 {
            let place = Int.random(in: lines.indices, using: &random)
            let more = Bool.random(using: &random) ? missing : Int.random(in: 1...missing, using: &random)
            lines[place] += String(repeating: "x", count: more)
            missing -= more
        }
        text = Self.start + lines.map { $0 + "\r\n" }.joined() + "\r\n"
    }
}

@Suite("Heads", .serialized)
struct HeadLimitTests {
    @Test("of real deployments pass, one after another on a connection", arguments: [false, true])
    func real(inPieces: Bool) async throws {
        #expect(RealHead.all.count == 13)
        try await withRoutes { routes in
            routes.on(.get, "/v1/sessions/current/services/profile") { request in
                let head = RealHead.all.first { head in
                    request.fields.count == head.fields.count
                        && RealHead.names.allSatisfy {
                            request.fields.values(of: HTTPFieldName($0)) == head.values(of: $0)
                        }
                }
                return HTTPResponse(text: head?.testDescription ?? "another")
            }
        } _: { server in
            try await server.connected { connection in
                for head in RealHead.all + RealHead.all.reversed() {
                    let bytes = Array(head.text.utf8)
                    // Networks cut a head anywhere.
                    let size = inPieces ? 997 : bytes.count
                    for start in stride(from: 0, to: bytes.count, by: size) {
                        try connection.send(Array(bytes[start..<min(start + size, bytes.count)]))
                    }
                    let response = try connection.readResponse()
                    #expect(response.status == 200)
                    #expect(response.text == head.testDescription)
                }
            }
        }
    }

    @Test(
        "within the limits pass whatever they are made of, and one byte, field or cookie more is refused by its name",
        arguments: [
            (16_384, 100, 256, 25_600), (16_384, 100, 256, 49_152), (4_096, 48, 32, 0), (40_000, 300, 2_000, 0),
            (1_000, 20, 10, 65_536),
        ])
    func limits(bytes: Int, fields: Int, cookies: Int, memory: Int) async throws {
        try await withServer {
            $0.limits.headBytes = bytes
            $0.limits.fields = fields
            $0.limits.cookies = cookies
            $0.limits.connectionMemory = memory
        } _: { server in
            let port = server.port
            try await blocking {
                var random = SeededGenerator(seed: UInt64(bytes))
                let kept = try RawConnection(port: port)
                func status(_ head: Head) throws -> Int {
                    let connection = try RawConnection(port: port, sending: head.text)
                    return try connection.readResponse().status
                }
                for round in 0..<60 {
                    let some = round == 0 ? fields : Int.random(in: 3...fields, using: &random)
                    let most = min(cookies, (bytes - fields * 6 - 50) / 5)
                    let crumbs = round == 0 ? most : Int.random(in: 0...most, using: &random)
                    let head = Head(bytes: bytes, fields: some, cookies: crumbs, using: &random)
                    #expect(head.text.utf8.count == bytes)
                    #expect(try status(head) == 200, "\(some) fields, \(crumbs) cookies")
                    try kept.send(head.text + "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    #expect(try kept.readResponse().status == 200)
                    #expect(try kept.readResponse().status == 200)
                    #expect(try status(Head(bytes: bytes + 1, fields: some, cookies: crumbs, using: &random)) == 431)
                }
                let few = Head(bytes: 0, fields: fields + 1, cookies: 0, using: &random)
                #expect(
                    try RawConnection(port: port, sending: few.text).readResponse().text.contains("\(fields) header"))
                let many = Head(bytes: 0, fields: 3, cookies: cookies + 1, using: &random)
                if many.text.utf8.count <= bytes {
                    let response = try RawConnection(port: port, sending: many.text).readResponse()
                    #expect(response.status == 431 && response.text.contains("\(cookies) cookies"))
                }
            }
        }
    }
}
