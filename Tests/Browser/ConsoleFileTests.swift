import HTTPTestClient
import Support
import Testing

@Suite("The files of the console")
struct ConsoleFileTests {
    private static let policy =
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        + "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"

    @Test("are on the admin listener alone, without a key, and let nothing in from elsewhere")
    func served() async throws {
        try await withApplication { configuration in
            configuration.admin.key = .init("0123456789abcdef-key")
        } _: { app in
            var files = [("/console", "console/index.html")]
            for name in try ShippedFiles.repository.names(in: "console") where name != "index.html" {
                files.append(("/console/\(name)", "console/\(name)"))
            }
            files += ["dom.js", "picture.js", "icon.svg"].map { ("/console/\($0)", "demo/\($0)") }
            for (path, file) in files {
                let response = try await app.admin().get(path)
                #expect(response.status == 200, "\(path)")
                #expect(response.text == (try ShippedFiles.text(file)), "the build is older than \(file)")
                #expect(response["Content-Security-Policy"] == Self.policy, "\(path)")
                #expect((response["Cross-Origin-Opener-Policy"] == "same-origin") == (path == "/console"))
                #expect(try await app.client().get(path).status == 404, "\(path)")
            }
            for path in ["/console/", "/console/index.html", "/console/%2e%2e/Package.swift", "/console/x.js"] {
                #expect(try await app.admin().get(path).status >= 400, "\(path)")
            }
        }
    }

    @Test("have nothing inline, and bring no text into the page as markup")
    func isPlain() throws {
        let page = try ShippedFiles.text("console/index.html")
        #expect(page.firstMatch(of: /<style|style=|<script(?![^>]*src=)|\son\w+=|javascript:/) == nil)
        for name in try ShippedFiles.repository.names(in: "console") where name.hasSuffix(".js") {
            let script = try ShippedFiles.text("console/\(name)")
            let found = script.firstMatch(
                of: /innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|DOMParser|\.style\b/)
            #expect(found == nil, "\(name): \(found?.output ?? "")")
        }
    }
}
