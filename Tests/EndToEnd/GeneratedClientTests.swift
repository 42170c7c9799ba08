import Support
import Testing

@Suite("A client that openapi-python-client makes of /openapi.json")
struct GeneratedClientTests {
    @Test("takes the walk of the README, basket included")
    func walk() async throws {
        try await withApplication(services: try ShippedFiles.services(), flows: try ShippedFiles.flows()) { app in
            let files = [
                "openapi.json": try await app.client().get("/openapi.json").text,
                // Not formatted: nobody reads it.
                "settings.yml": "post_hooks: []\n",
            ]
            try await withFolder(files) { _, folder in
                let commands = ShellCommand.all(
                    in: """
                        $ export PYTHONPATH="${XDG_CACHE_HOME:-$HOME/.cache}/concierge/openapi-python-client:$PWD"
                        $ /usr/bin/python3 -m openapi_python_client generate --path openapi.json --meta none \\
                            --config settings.yml --output-path concierge_client
                        $ /usr/bin/python3 \(ShippedFiles.directory)/Tests/OpenAPIClient/walk.py http://localhost:8080
                        """)
                let outputs = try await ShellCommand.outputs(
                    of: commands, in: folder, addresses: ["localhost:8080": app.publicPort])
                #expect(outputs.last == "The generated client took the whole walk.", "\(outputs)")
            }
        }
    }
}
