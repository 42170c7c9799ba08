import Configuration
import Support
import Testing

@Suite("Pages whose commands a shell runs")
struct ShellPagesTests {
    @Test(
        "each command does what the page shows, with the files that it shows",
        arguments: ["README.md", "docs/http.md", "docs/document-services.md", "docs/persons.md"])
    func page(_ path: String) async throws {
        let blocks = try DocumentationPage(path).blocks
        var files = ["config/concierge.json": "{}"]
        for block in blocks { if let path = block.path { files[path] = block.text } }
        let commands = blocks.filter { $0.language == "console" }.flatMap { ShellCommand.all(in: $0.text) }
        #expect(commands.count > 5)
        try await withFolder(files) { reader, folder in
            let loaded = ConfigurationLoader(environment: [:], files: reader).load()
            #expect(loaded.problems == [])
            try await withApplication(
                services: try ShippedFiles.services() + loaded.services, flows: try ShippedFiles.flows(),
                {
                    $0.mainFlow = "main"
                    $0.cors.allowedOrigins = ["https://app.example.org"]
                },
                { app in
                    let outputs = try await ShellCommand.outputs(
                        of: commands, in: folder,
                        addresses: ["localhost:8080": app.publicPort, "localhost:8081": app.adminPort])
                    #expect(outputs.count == commands.count)
                    for (command, output) in zip(commands, outputs) {
                        #expect(output.isShown(as: command.output), "\(command.text)\n\(output)")
                    }
                })
        }
    }
}
