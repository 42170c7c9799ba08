import Glibc
import HTTPTestClient
import Support
import Testing

@Suite("The program under ulimit -v", .enabled(if: !isSanitized, "the sanitizers take terabytes of address space"))
struct AddressSpaceTests {
    @Test(
        "serves and stops, or ends with status 1 and a sentence: it neither hangs nor crashes",
        arguments: [80, 100, 150, 200, 250, 300, 400, 500, 600, 800, 1_500])
    func limited(mebibytes: Int) async throws {
        let program = try ProgramProcess(
            [
                "serve", "--host", "127.0.0.1", "--port", "0", "--admin-port", "0", "--workers", "1", "--store",
                "memory",
            ], through: ["/usr/bin/prlimit", "--as=\(mebibytes << 20)"])
        guard let ports = try? await program.ports() else {
            let result = try await program.result()
            // With the least the loader cannot even map the libraries.
            let isLoaded = !result.complaints.contains("error while loading shared libraries")
            #expect(result.status == (isLoaded ? 1 : 127), "\(result.complaints)")
            #expect(!isLoaded || result.complaints.contains("ulimit -v"), "\(result.complaints)")
            #expect(mebibytes < 1_500)
            return
        }
        try await blocking {
            // All threads that it has under load.
            let clients = try (0..<32).map { _ in try RawConnection(port: ports.publicPort) }
            for client in clients {
                try client.send("POST /v1/sessions HTTP/1.1\r\nHost: h\r\nContent-Length: 0\r\n\r\n")
            }
            for client in clients { #expect(try client.readResponse().status == 201) }
        }
        program.send(SIGTERM)
        #expect(try await program.result().status == 0)
    }
}

@Suite("The program without descriptors")
struct DescriptorTests {
    @Test("rests, serves the connections that it has, and accepts again when one of them ends")
    func rests() async throws {
        // It opens some twenty for itself.
        let program = try await ServingProgram(
            ["--store", "memory"], through: ["/usr/bin/prlimit", "--nofile=64:64"])
        let port = program.client.port
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
            let before = try program.process.processorTime()
            #expect(!clients[79].hasSomethingToRead(withinMilliseconds: 1_000))
            #expect(try program.process.processorTime() - before < .milliseconds(400))
            try clients[0].send(request)
            #expect(try clients[0].readResponse().status == 200)
            clients.removeFirst(40)
            #expect(try clients[39].readResponse().status == 200)
        }
        try await program.end()
    }
}
