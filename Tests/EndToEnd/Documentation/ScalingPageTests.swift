import Glibc
import HTTPTestClient
import Support
import Testing

@Suite("docs/scaling.md")
struct ScalingPageTests {
    /// What a script of `Benchmarks` prints.
    private static func output(of command: String) async throws -> (status: Int32, text: String) {
        try await blocking {
            let pipe = try #require(popen("cd '\(ShippedFiles.directory)' && \(command) 2>&1", "re"))
            var said: [UInt8] = []
            var buffer = [UInt8](repeating: 0, count: 4096)
            while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { said += buffer[..<count] }
            return (pclose(pipe), String(decoding: said, as: UTF8.self))
        }
    }

    @Test("the simulation agrees with what can be worked out on paper", arguments: [1, 2, 3])
    func arithmetic(seed: Int) async throws {
        let large = try await Self.output(of: "/usr/bin/python3 Benchmarks/simulate_shards.py --check --seed \(seed)")
        #expect(large.status == 0 && large.text == "the arithmetic holds\n", "\(large.text)")
        let small = try await Self.output(
            of: "/usr/bin/python3 Benchmarks/simulate_shards.py --check --seed \(seed) "
                + "--sessions 1e7 --shards 10 --servers 5 --days 365")
        #expect(small.status == 0, "\(small.text)")
    }

    @Test("shows what its commands print")
    func figures() async throws {
        let page = try ShippedFiles.text("docs/scaling.md")
        let commands = page.matches(of: #/(?m)^\$ python3 (Benchmarks/simulate_shards\.py.*)$/#).map(\.output.1)
        #expect(commands.count == 2)
        for command in commands {
            let output = try await Self.output(of: "/usr/bin/python3 \(command)")
            #expect(output.status == 0)
            let lines = output.text.split(separator: "\n").filter { !$0.hasPrefix("|---") }
            #expect(lines.count > 10)
            for line in lines { #expect(page.contains(line), "\(line)") }
        }
    }
}
