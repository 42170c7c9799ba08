import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Isolation")
struct IsolationTests {
    @Test("1,000 sessions with interleaved writes never see each other's data")
    func thousand() async throws {
        let count = 1_000
        let writers = 4
        try await withApplication { app in
            let port = app.publicPort
            let tokens = try await blocking {
                let connection = try RawConnection(port: port)
                let request = TestClient(port: port).request("POST", Paths.sessions)
                return try (0..<count).map { _ in
                    try connection.send(request)
                    return try #require(try connection.readResponse()[member: "token"]?.string)
                }
            }
            #expect(Set(tokens).count == count)
            // Every writer visits every session, each in another order, so that neighbours on a connection, and in
            // time, are always different ones.
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<writers {
                    group.addTask {
                        try await blocking { try Self.write(as: writer, tokens, port: port) }
                    }
                }
                try await group.waitForAll()
            }
            try await blocking {
                let connection = try RawConnection(port: port)
                for (index, token) in tokens.enumerated() {
                    let client = TestClient(port: port).with(token: token)
                    try connection.send(client.request("GET", Paths.profile))
                    let attributes = try connection.readResponse()[member: "attributes"]?.members ?? []
                    #expect(attributes.map(\.name) == (0..<writers).map { "w\($0)" })
                    #expect(attributes.allSatisfy { $0.value.int == index }, "session \(index): \(attributes)")
                }
            }
            #expect(try await app.admin().get("/v1/stats")[member: "services"]?[member: "profile"]?.int == count)
        }
    }

    private static func write(as writer: Int, _ tokens: [String], port: UInt16) throws {
        let connection = try RawConnection(port: port)
        // Coprime to the number of sessions: all are visited.
        let step = [7, 11, 13, 17][writer]
        for turn in 0..<tokens.count {
            let index = (turn * step + writer * 250) % tokens.count
            let client = TestClient(port: port).with(token: tokens[index])
            try connection.send(
                client.request("PATCH", Paths.profile, json: #"{"attributes":{"w\#(writer)":\#(index)}}"#))
            let answer = try connection.readResponse()
            let attributes = answer[member: "attributes"]?.members ?? []
            #expect(answer.status == 200)
            #expect(attributes.contains { $0.name == "w\(writer)" })
            #expect(attributes.allSatisfy { $0.value.int == index }, "session \(index): \(attributes)")
        }
    }
}
