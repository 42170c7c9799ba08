import Glibc
import HTTPTestClient
import Support
import Testing

/// The patches that `scripts/prove-durability` applies to a copy of the sources.
@Suite("Planted bugs")
struct PlantedBugTests {
    private static let folder = "\(ShippedFiles.directory)/Tests/Durability/PlantedBugs"

    private static func patches() throws -> [String] {
        try ShippedFiles.repository.names(in: folder).filter { $0.hasSuffix(".patch") }
    }

    @Test("each patch fits the sources as they are")
    func fit() async throws {
        let patches = try Self.patches()
        #expect(patches.count > 1)
        for patch in patches {
            let output = try await blocking {
                let command =
                    "patch --dry-run --batch --strip 1 --directory '\(ShippedFiles.directory)' <'\(Self.folder)/\(patch)' 2>&1"
                let pipe = try #require(popen(command, "re"))
                var said: [UInt8] = []
                var buffer = [UInt8](repeating: 0, count: 4096)
                while case let count = fread(&buffer, 1, buffer.count, pipe), count > 0 { said += buffer[..<count] }
                return pclose(pipe) == 0 ? "" : String(decoding: said, as: UTF8.self)
            }
            #expect(output.isEmpty, "\(patch)")
        }
    }

    @Test("each has a name of its own and a patch that plants it, and the sources have none")
    func names() throws {
        let list = "PlantedBug.patch"
        let declared = try ShippedFiles.text("\(Self.folder)/\(list)").matches(of: /case (\w+) = "([a-z-]+)"/)
        #expect(declared.count > 1 && Set(declared.map(\.output.2)).count == declared.count)
        let used = try Self.patches().filter { $0 != list }.flatMap { patch in
            try ShippedFiles.text("\(Self.folder)/\(patch)").split(separator: "\n").filter { $0.hasPrefix("+") }
                .flatMap { $0.matches(of: /PlantedBug\.(\w+)\.isActive/).map(\.output.1) }
        }
        #expect(Set(used) == Set(declared.map(\.output.1)))
        for file in try Self.sources(in: "Sources") {
            #expect(try !ShippedFiles.text(file).contains(/PlantedBug|PLANTED/), "\(file)")
        }
    }

    private static func sources(in folder: String) throws -> [String] {
        try ShippedFiles.repository.names(in: folder).flatMap { name -> [String] in
            let path = "\(folder)/\(name)"
            if name.hasSuffix(".swift") { return [path] }
            return name.contains(".") ? [] : try sources(in: path)
        }
    }
}
