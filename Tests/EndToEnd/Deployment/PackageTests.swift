import Foundation
import Glibc
import Operations
import Support
import Testing

@Suite("Packages")
struct PackageTests {
    private static func shell(_ script: String, in folder: String) async throws -> [String] {
        try await ShellCommand.outputs(of: ShellCommand.all(in: script), in: folder, addresses: [:])
    }

    /// The program with the runtime of Swift in it: what is not shipped needs libraries that Debian does not have.
    private static let isShipped: Bool = {
        guard let program = try? ProgramProcess.executable(),
            let bytes = try? Data(contentsOf: URL(filePath: program), options: .mappedIfSafe)
        else { return false }
        return bytes.range(of: Data("libswiftCore.so".utf8)) == nil
    }()

    @Test(
        "the .deb has the program, its unit, and a configuration that is valid, and needs Debian's libraries",
        .enabled(if: isShipped, "SKIPPED: this is no release build with the runtime of Swift linked in"))
    func deb() async throws {
        try await withFolder([:]) { _, folder in
            let program = try ProgramProcess.executable()
            _ = try await Self.shell(
                "$ PROGRAM='\(program)' '\(ShippedFiles.directory)/scripts/package' '\(folder)/out'", in: folder)
            let names = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/out")
            let package = try #require(names.first { $0.hasSuffix(".deb") })
            #expect(package.hasPrefix("concierge_\(BuildInformation.version)-1~deb"))
            #expect(names.contains { $0.hasPrefix("concierge-\(BuildInformation.version)-linux-") })
            let size = try FileManager.default.attributesOfItem(atPath: "\(folder)/out/\(package)")[.size] as? Int
            #expect(try #require(size) <= 12_000_000)
            let outputs = try await Self.shell(
                """
                $ dpkg-deb --field 'out/\(package)' Depends
                $ dpkg-deb --raw-extract 'out/\(package)' root && cat root/DEBIAN/conffiles
                $ for script in postinst prerm postrm; do sh -n root/DEBIAN/$script && test -x root/DEBIAN/$script; done
                $ test "$(stat -c %a root/etc/concierge/credentials)" = 700 && root/usr/bin/concierge version
                """, in: folder)
            for library in ["libc6 (>=", "libmicrohttpd12", "libgnutls30", "libsqlite3-0", "passwd", "tzdata"] {
                #expect(outputs[0].contains(library), "\(outputs[0])")
            }
            let files = outputs[1].split(separator: "\n")
            #expect(files.contains("/etc/concierge/concierge.json") && files.contains("/etc/concierge/flows/main.json"))
            #expect(outputs[3] == "concierge \(BuildInformation.version)")
            #expect(
                try String(contentsOfFile: "\(folder)/root/usr/lib/systemd/system/concierge.service", encoding: .utf8)
                    == ShippedFiles.text("deploy/systemd/concierge.service"))
            // Its places are those of the unit, which makes them.
            let configuration = "\(folder)/root/etc/concierge/concierge.json"
            let text = try String(contentsOfFile: configuration, encoding: .utf8)
            #expect(text.contains(#""store": "sqlite:/var/lib/concierge/data/concierge.db""#))
            try ShippedFiles.write(text.replacing("/var/lib", with: folder), to: configuration)
            _ = try await Self.shell("$ mkdir -p concierge/data concierge/backups", in: folder)
            let check = try await ProgramProcess.run(["check", "--config", configuration])
            #expect(check.status == 0 && check.complaints.isEmpty, "\(check)")
            let shown = try await ProgramProcess.run(["config", "--config", configuration]).output
            #expect(shown.contains(#""directory": "\#(folder)/concierge/backups""#), "\(shown)")
        }
    }

    @Test(
        "systemd accepts the unit, and what the server may do is little",
        .enabled(if: access("/usr/bin/systemd-analyze", X_OK) == 0, "SKIPPED: systemd is not installed"))
    func unit() async throws {
        try await withFolder([:]) { _, folder in
            let outputs = try await Self.shell(
                """
                $ mkdir -p units && cp '\(ShippedFiles.directory)'/deploy/systemd/concierge.* units
                $ sed -i 's|^ExecStart=/usr/bin/concierge|ExecStart=/bin/true|' units/concierge.service
                $ systemd-analyze verify units/concierge.service units/concierge.socket
                $ systemd-analyze security --offline=true --threshold=30 units/concierge.service >/dev/null && echo little
                """, in: folder)
            #expect(outputs[2] == "" && outputs[3] == "little", "\(outputs)")
        }
    }

    @Test("clients/js is a package for npm: node finds the module, and TypeScript its types")
    func npm() async throws {
        try await withFolder(["use.mjs": "", "use.mts": ""]) { _, folder in
            let use = #"import { Session } from "concierge-client";"#
            try ShippedFiles.write("\(use)\nconsole.log(typeof Session.open);\n", to: "\(folder)/use.mjs")
            try ShippedFiles.write(
                "\(use)\nexport const session: Promise<Session> = Session.open();\n", to: "\(folder)/use.mts")
            let outputs = try await Self.shell(
                """
                $ mkdir node_modules && ln -s '\(ShippedFiles.directory)/clients/js' node_modules/concierge-client
                $ node use.mjs
                $ tsc --strict --noEmit --target ES2022 --module node16 --moduleResolution node16 --lib ES2022,DOM use.mts || :
                $ node -p "const p = require('./node_modules/concierge-client/package.json'); [p.version, ...p.files]"
                """, in: folder)
            #expect(outputs[1] == "function" && outputs[2] == "", "\(outputs)")
            for part in [BuildInformation.version, "concierge.js", "concierge.d.ts"] {
                #expect(outputs[3].contains("'\(part)'"))
            }
        }
    }

    @Test("the image and the manifests name the version of the program")
    func version() throws {
        let version = BuildInformation.version
        #expect(try ShippedFiles.text("Dockerfile").contains("image.version=\"\(version)\""))
        for folder in ["kubernetes", "kubernetes-single"] {
            #expect(try ShippedFiles.text("deploy/\(folder)/kustomization.yaml").contains("newTag: \(version)\n"))
        }
        #expect(try ShippedFiles.text("CHANGELOG.md").contains("\n## [\(version)] - "))
    }
}
