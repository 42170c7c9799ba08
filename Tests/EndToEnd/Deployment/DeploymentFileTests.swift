import Foundation
import JSONDocument
import Support
import Testing

/// `Tests/Deployment/check.py` compares the files with schemas and with each other; what they name of the program is
/// compared with the program here.
@Suite("Files for Compose and Kubernetes")
struct DeploymentFileTests {
    /// What the script says about a copy of the files.
    private static func check(_ change: (_ file: inout String, _ text: inout String) -> Void) async throws
        -> JSONDocument
    {
        let root = URL(filePath: ShippedFiles.directory, directoryHint: .isDirectory)
        var files: [String: String] = [:]
        for folder in ["deploy/kubernetes", "deploy/kubernetes-single", "deploy/compose"] {
            for name in try FileManager.default.contentsOfDirectory(atPath: root.appending(path: folder).path) {
                files["\(folder)/\(name)"] = try ShippedFiles.text("\(folder)/\(name)")
            }
        }
        files["compose.yaml"] = try ShippedFiles.text("compose.yaml")
        var changed: [String: String] = [:]
        for (name, text) in files {
            var (name, text) = (name, text)
            change(&name, &text)
            changed[name] = text
        }
        return try await withFolder(changed) { _, folder in
            let commands = ShellCommand.all(
                in: """
                    $ export PATH="$PATH:/usr/libexec/docker/cli-plugins"
                    $ docker-compose --profile cluster config >read.yaml
                    $ docker-compose -f compose.yaml -f deploy/compose/backend.yaml config >backend.yaml
                    $ export PYTHONPATH="${XDG_CACHE_HOME:-$HOME/.cache}/concierge/kubernetes-validate"
                    $ export PYTHONDONTWRITEBYTECODE=1
                    $ check='\(ShippedFiles.directory)/Tests/Deployment/check.py'
                    $ /usr/bin/python3 "$check" read.yaml backend.yaml deploy/kubernetes deploy/kubernetes-single
                    """)
            let outputs = try await ShellCommand.outputs(of: commands, in: folder, addresses: [:])
            return try JSONDocument(parsing: try #require(outputs.last))
        }
    }

    @Test("agree with each other, with the schemas, and with what the program knows")
    func shipped() async throws {
        let found = try await Self.check { _, _ in }
        #expect(found[member: "problems"] == [])
        let environments = try #require(found[member: "environments"]?.elements)
        #expect(environments.count == 5)
        let secret = "0123456789abcdef0123456789abcdef"
        for environment in environments {
            let result = try await Self.check(environment, secret: secret, networks: "10.1.2.0/24")
            #expect(result.status == 0 && !result.complaints.contains("warning"), "\(result.complaints)")
        }
        // Nobody is to run it with the placeholders.
        for (file, environment) in [
            ("kubernetes/secret.yaml", environments[3]), ("kubernetes-single/settings.yaml", environments[4]),
        ] {
            #expect(try ShippedFiles.text("deploy/\(file)").contains("admin-key: replace-me\n"))
            #expect(try await Self.check(environment, secret: "replace-me", networks: "10.1.2.0/24").status == 2)
            #expect(try await Self.check(environment, secret: secret).status == 2)
        }
        try await withApplication { app in
            for path in found[member: "paths"]?.elements ?? [] {
                #expect(try await app.client().get(path.string ?? "").status == 200)
            }
            let metrics = try await app.admin().get("/metrics").text
            let named = try #require(found[member: "metrics"]?.elements)
            #expect(named.count == 2)
            for name in named {
                #expect(metrics.contains("\n\(name.string ?? "?"){listener=\"public\""), "\(name)")
            }
        }
        // The program's own ports, since no variable says others.
        #expect(found[member: "ports"] == ["http": 8080, "admin": 8081])
    }

    /// What `concierge check` says to the settings, with all secrets in a file of the test.
    private static func check(
        _ environment: JSONDocument, secret: String, networks: String? = nil
    ) async throws -> ProgramProcess.Result {
        let volumes = ["lib/concierge/data/there": "", "backups/concierge/there": ""]
        return try await withFolder(volumes.merging(["secret": secret + "\n"]) { $1 }) { _, folder in
            var variables: [String: String] = [:]
            for (name, value) in environment.members ?? [] {
                // The volumes of a container are not here.
                variables[name] =
                    name.hasSuffix("_FILE") ? "\(folder)/secret" : value.string?.replacing("/var/", with: "\(folder)/")
            }
            if let networks { variables["CONCIERGE_PROXIES_NETWORKS"] = networks }
            return try await ProgramProcess.run(
                ["check", "--config", "\(ShippedFiles.directory)/config/concierge.json"], environment: variables)
        }
    }

    struct Mistake: Sendable, CustomTestStringConvertible {
        let file: String
        let text: String
        let wrong: String
        let says: String
        var testDescription: String { wrong }
    }

    static let mistakes: [Mistake] = [
        Mistake(
            file: "deployment.yaml", text: "readOnlyRootFilesystem", wrong: "readonlyRootFilesystem",
            says: "readonlyRootFilesystem"),
        Mistake(
            file: "kubernetes-single/deployment.yaml", text: "type: Recreate", wrong: "type: RollingUpdate",
            says: "two servers may write"),
        Mistake(
            file: "kubernetes-single/deployment.yaml", text: "claimName: concierge-data", wrong: "claimName: data",
            says: "the pod claims"),
        Mistake(
            file: "settings.yaml", text: "/var/backups", wrong: "/backups", says: "the backups are on no volume"),
        Mistake(
            file: "kubernetes/deployment.yaml", text: "terminationGracePeriodSeconds: 50",
            wrong: "terminationGracePeriodSeconds: 30", says: "killed after 30 s"),
        Mistake(file: "service.yaml", text: "targetPort: http", wrong: "targetPort: web", says: "no port web"),
        Mistake(file: "network.yaml", text: "- port: admin", wrong: "- port: 9090", says: "no port 9090"),
        Mistake(
            file: "disruption.yaml", text: "name: concierge\n", wrong: "name: cocierge\n", says: "selects no pod"),
        Mistake(
            file: "autoscaling.yaml", text: "name: concierge_public", wrong: "name: concierge_all",
            says: "other metrics"),
        Mistake(
            file: "secret.yaml", text: "redis-password:", wrong: "redis_password:", says: "secrets"),
        Mistake(
            file: "configmap.yaml", text: "DRAIN_DELAY: 10s", wrong: "DRAIN_DELAY: 40s", says: "drain_delay 40"),
        Mistake(
            file: "backend.yaml", text: "networks: [inside]", wrong: "networks: [outside]",
            says: "not in the network inside"),
        Mistake(file: "compose.yaml", text: "stop_grace_period: 25s", wrong: "stop_grace_period: 15s", says: "15"),
        Mistake(file: "haproxy.cfg", text: "inter 500ms", wrong: "inter 5000ms", says: "noticed after 15"),
        Mistake(file: "haproxy.cfg", text: "timeout server 100s", wrong: "timeout server 60s", says: "after 60 s"),
        Mistake(file: "kustomization.yaml", text: "newTag: 0.3.0", wrong: "newTag: 0.2.0", says: "another image"),
        Mistake(file: "redis.conf", text: "appendfsync always", wrong: "appendfsync everysec", says: "lacks"),
    ]

    @Test("a mistake in them is found", arguments: mistakes)
    func isFound(_ mistake: Mistake) async throws {
        let found = try await Self.check { file, text in
            guard file.hasSuffix(mistake.file) else { return }
            #expect(text.contains(mistake.text))
            text = text.replacing(mistake.text, with: mistake.wrong)
        }
        let problems = found[member: "problems"]?.elements?.compactMap(\.string) ?? []
        #expect(problems.contains { $0.contains(mistake.says) }, "\(problems)")
    }
}
