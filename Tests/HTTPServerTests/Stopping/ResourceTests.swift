import Glibc
import HTTPServer
import HTTPTestClient
import Testing

/// Each runs in a process of its own: descriptors, memory and processor time are the whole process's.
@Suite("A server's resources")
struct ResourceTests {
    private static func descriptors() -> Int {
        guard let directory = opendir("/proc/self/fd") else { return -1 }
        defer { closedir(directory) }
        var count = 0
        while readdir(directory) != nil { count += 1 }
        return count
    }

    /// Pages in memory.
    private static func residentPages() -> Int {
        guard let file = fopen("/proc/self/statm", "r") else { return -1 }
        defer { fclose(file) }
        var line = [CChar](repeating: 0, count: 128)
        guard fgets(&line, 128, file) != nil else { return -1 }
        let text = String(decoding: line.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        return text.split(separator: " ").dropFirst().first.flatMap { Int($0) } ?? -1
    }

    private static func startAndStop() async throws {
        try await withServer(setting: \.workers, to: 2) { server in
            let port = server.port
            try await blocking {
                for text in [
                    "GET / HTTP/1.1\r\nHost: h\r\n\r\n",
                    "POST /later HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\n\r\nhi",
                    "GET / HTTP/1.1\r\n\r\n", "GET / HTTP/3.1\r\n\r\n",
                ] {
                    let connection = try RawConnection(port: port)
                    try connection.send(text)
                    _ = try connection.readResponse()
                }
            }
        }
    }

    @Test("are all given back: 50 starts and stops leave no descriptor and no memory behind")
    func givenBack() async {
        await #expect(processExitsWith: .success) {
            for _ in 0..<10 { try await Self.startAndStop() }
            let descriptors = Self.descriptors()
            let pages = Self.residentPages()
            for _ in 0..<50 { try await Self.startAndStop() }
            #expect(Self.descriptors() <= descriptors)
            // Two megabytes are noise: stacks of threads, the allocator's arenas.
            #expect(isSanitized || Self.residentPages() - pages < 512)
        }
    }

    @Test("are those of the system: once it has stopped, its port refuses")
    func portRefuses() async {
        await #expect(processExitsWith: .success) {
            let port = try await withServer { $0.port }
            #expect(throws: RawConnection.Failure.self) { try RawConnection(port: port) }
        }
    }

    @Test("run out without a loop that spins: with no descriptor left the processor rests")
    func noDescriptors() async {
        await #expect(processExitsWith: .success) {
            try await withServer { server in
                let port = server.port
                try await blocking {
                    var limit = rlimit()
                    getrlimit(__rlimit_resource_t(7), &limit)
                    // All are taken, also those that came free since the process began; then the client's own is
                    // the only one.
                    var low = limit
                    low.rlim_cur = 256
                    setrlimit(__rlimit_resource_t(7), &low)
                    var spare: Int32 = -1
                    while case let next = open("/dev/null", O_RDONLY), next >= 0 { spare = next }
                    close(spare)
                    let waiting = try RawConnection(port: port, sending: "GET / HTTP/1.1\r\nHost: h\r\n\r\n")
                    let before = clock()
                    #expect(!waiting.hasSomethingToRead(withinMilliseconds: 500))
                    let used = Double(clock() - before) / Double(CLOCKS_PER_SEC)
                    #expect(used < 0.1)
                    setrlimit(__rlimit_resource_t(7), &limit)
                    #expect(try waiting.readResponse().status == 200)
                }
            }
        }
    }
}
