import Glibc
import Support
import Testing

@Suite("The Swift examples of the pages about libraries")
struct SwiftExamplesTests {
    static let pages = [
        ("docs/service-locator.md", "Tests/ServiceLocatorTests"), ("docs/http-server.md", "Tests/HTTPServerTests"),
        ("docs/navigation.md", "Tests/NavigationTests"), ("docs/swift-client.md", "Tests/ConciergeClientTests"),
    ]

    @Test("are compiled and run, all of them, to the letter", arguments: pages)
    func sameCode(page: String, tests: String) throws {
        let blocks = try DocumentationPage(page).blocks.filter { $0.language == "swift" }
        let snippets = try Self.snippets("\(tests)/DocumentationExamples.swift")
        #expect(!blocks.isEmpty)
        for block in blocks { #expect(snippets.contains(block.text), "line \(block.line) of \(page)") }
        for snippet in snippets { #expect(blocks.contains { $0.text == snippet }, "not on the page:\n\(snippet)") }
    }

    /// From `… // snippet: name` to `// end`, without the indentation that all lines share.
    private static func snippets(_ path: String) throws -> [String] {
        var snippets: [String] = []
        var current: [Substring]?
        for line in try ShippedFiles.text(path).split(separator: "\n", omittingEmptySubsequences: false) {
            let text = line.drop { $0 == " " }
            if text.hasPrefix("// snippet: ") {
                current = []
            } else if text == "// end" {
                let lines = try #require(current)
                let depth = lines.filter { !$0.isEmpty }.map { $0.prefix { $0 == " " }.count }.min() ?? 0
                snippets.append(lines.map { String($0.dropFirst(depth)) }.joined(separator: "\n"))
                current = nil
            } else {
                current?.append(line)
            }
        }
        return snippets
    }
}

@Suite("Services in Swift, as the page shows them")
struct SwiftServicesPageTests {
    private static let page = "docs/services-in-swift.md"
    private static let example = "Examples/Shop"

    @Test("the files of the page are those of the example, which is built here")
    func files() throws {
        let blocks = try DocumentationPage(Self.page).blocks.filter { $0.path != nil }
        #expect(
            blocks.compactMap(\.path) == ["Sources/Shop/Shop.swift", "config/flows/shop.json", "config/concierge.json"])
        for block in blocks {
            let path = try #require(block.path)
            let text = block.text.split(separator: "\n", maxSplits: 1)[1]
            #expect(try ShippedFiles.text("\(Self.example)/\(path)") == text + "\n")
        }
        let code = try ShippedFiles.text("\(Self.example)/Sources/Shop/Shop.swift").split(separator: "\n")
        #expect(code.count <= 70)
    }

    @Test("each command does what the page shows, and the program is the whole server")
    func commands() async throws {
        let program = "\(ShippedFiles.directory)/.build/debug/Shop"
        let folder = "\(ShippedFiles.directory)/\(Self.example)"
        let arguments = ["--config", "\(folder)/config/concierge.json"]
        let check = try await ProgramProcess(command: [program, "check"] + arguments, environment: [:]).result()
        #expect(check.status == 0, "\(check.complaints)")
        let shop = try ProgramProcess(
            command: [program, "serve", "--port", "0", "--admin-port", "0"] + arguments, environment: [:])
        let ports = try await shop.ports()
        let blocks = try DocumentationPage(Self.page).blocks
        let commands = blocks.filter { $0.language == "console" }.flatMap { ShellCommand.all(in: $0.text) }
        #expect(commands.count > 8)
        let outputs = try await ShellCommand.outputs(
            of: commands, in: folder, addresses: ["localhost:8080": ports.publicPort])
        #expect(outputs.count == commands.count)
        for (command, output) in zip(commands, outputs) {
            #expect(output.isShown(as: command.output), "\(command.text)\n\(output)")
        }
        shop.send(SIGTERM)
        #expect(try await shop.result().status == 0)
    }
}
