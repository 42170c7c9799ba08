import Glibc
import HTTPTestClient
import Support
import Testing

/// `scripts/setup` with all packages installed, as they are when tests run, and with a toolchain that is not as it
/// should be.
@Suite("scripts/setup")
struct SetupTests {
    static let toolchains: [(swift: String, says: String)] = [
        (
            "echo 'Swift version 6.2.4 (swift-6.2.4-RELEASE)'",
            "setup: this is Swift 6.2.4. Concierge needs Swift 6.3 or newer"
        ),
        ("echo 'swift: libncurses.so.6: cannot open shared object file'; exit 127", "setup: 'swift' does not start:"),
        (
            """
            if [ "$1" = --version ]; then echo 'Swift version 6.10 (swift-6.10-RELEASE)'
            else echo '"runtimeResourcePath": "/nowhere/lib/swift"'; fi
            """, "setup: the C++ compiler of the Swift toolchain (/nowhere/bin/clang) does not find <string_view>."
        ),
    ]

    @Test("refuses a toolchain that is too old, does not start, or has no C++ headers", arguments: toolchains)
    func toolchain(swift: String, says: String) async throws {
        let (status, output) = try await Self.setUp(swift: swift)
        #expect(status != 0)
        #expect(output.contains(says), "\(output)")
    }

    @Test("is content with what the tests were built with")
    func complete() async throws {
        let (status, output) = try await Self.setUp(swift: nil)
        #expect(status == 0)
        #expect(output == "setup: everything for 'test' is there\n")
    }

    /// - Parameter swift: what the command `swift` does; nil for the real one.
    private static func setUp(swift: String?) async throws -> (status: Int32, output: String) {
        try await withFolder(swift.map { ["swift": "#!/bin/sh\n\($0)\n"] } ?? [:]) { _, folder in
            if swift != nil { #expect(chmod("\(folder)/swift", 0o700) == 0) }
            let script = "\(ShippedFiles.directory)/scripts/setup"
            return try await blocking {
                let pipe = try #require(popen("PATH='\(folder)':\"$PATH\" '\(script)' test 2>&1", "re"))
                var said: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { said += buffer[..<count] }
                return (pclose(pipe), String(decoding: said, as: UTF8.self))
            }
        }
    }
}
