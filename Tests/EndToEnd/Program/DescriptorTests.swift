import HTTPTestClient
import Support
import Testing

@Suite("The program without descriptors")
struct DescriptorTests {
    @Test("rests, serves the connections that it has, and accepts again when one of them ends")
    func rests() async throws {
        // It opens some twenty for itself.
        let program = try ProgramProcess(
            ["serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--store", "memory"],
            through: ["/usr/bin/prlimit", "--nofile=64:64"])
        let port = try await program.ports().publicPort
        let request = "GET /version HTTP/1.1\r\nHost: h\r\n\r\n"
        try await blocking {
            var clients = try (0..<80).map { _ in
                let client = try RawConnection(port: port)
                try client.send(request)
                return client
            }
            // The last ones wait to be accepted.
            #expect(try clients[0].readResponse().status == 200)
            #expect(!clients[79].hasSomethingToRead(withinMilliseconds: 200))
            let before = try program.processorTime()
            #expect(!clients[79].hasSomethingToRead(withinMilliseconds: 1_000))
            #expect(try program.processorTime() - before < .milliseconds(400))
            try clients[0].send(request)
            #expect(try clients[0].readResponse().status == 200)
            clients.removeFirst(40)
            #expect(try clients[39].readResponse().status == 200)
        }
        program.send(15)
        #expect(try await program.result().status == 0)
    }
}
