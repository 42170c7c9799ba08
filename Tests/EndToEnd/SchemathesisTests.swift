import API
import Support
import Testing

/// What each request has to know beyond the description, and which refusals are meant, is in `schemathesis_hooks.py`.
@Suite("Requests that schemathesis makes of /openapi.json")
struct SchemathesisTests {
    @Test("get what the description promises, on both listeners", arguments: APIListener.allCases)
    func conformance(listener: APIListener) async throws {
        let services = try ShippedFiles.services()
        try await withApplication(services: services, flows: try ShippedFiles.flows()) {
            $0.mainFlow = "wizard"
        } _: { app in
            try await withFolder([:]) { _, folder in
                // Without the stream of events, which has no end.
                let commands = ShellCommand.all(
                    in: """
                        $ export CONCIERGE_URL=http://localhost:8080 CONCIERGE_ADMIN_URL=http://localhost:8081
                        $ export PYTHONPATH="${XDG_CACHE_HOME:-$HOME/.cache}/concierge/schemathesis:\(Self.folder)"
                        $ export SCHEMATHESIS_HOOKS=schemathesis_hooks PYTHONDONTWRITEBYTECODE=1
                        $ /usr/bin/python3 -m schemathesis.cli run http://localhost:\(listener.port)/openapi.json \\
                            --checks all --phases examples,coverage,fuzzing,stateful --max-examples "${SCHEMATHESIS_EXAMPLES:-3}" --seed 1 \\
                            --generation-with-security-parameters false --generation-database none --no-color \\
                            --continue-on-failure --request-timeout 10 --warnings off \\
                            --exclude-path '/v1/sessions/{session}/events' >report 2>&1 || cat report
                        """)
                let outputs = try await ShellCommand.outputs(
                    of: commands, in: folder,
                    addresses: ["localhost:8080": app.publicPort, "localhost:8081": app.adminPort])
                #expect(outputs.last == "", "\(outputs.last ?? "")")
            }
        }
    }

    private static let folder = "\(ShippedFiles.directory)/Tests/OpenAPIClient"
}

extension APIListener {
    /// As in the commands.
    fileprivate var port: Int { self == .public ? 8080 : 8081 }
}

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
