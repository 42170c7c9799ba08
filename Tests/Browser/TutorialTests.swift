import Foundation
import Glibc
import HTTPTestClient
import Support
import Testing

@Suite("docs/tutorial.md")
struct TutorialTests {
    @Test("each file is written, each command run and the page opened in Chromium, with what the text says of it")
    func page() async throws {
        let ports = try Self.freePorts()
        let page = try DocumentationPage(
            "docs/tutorial.md", replacing: Dictionary(zip(["8080", "8081", "3000"], ports)) { $1 })
        let commands = page.blocks.filter { $0.language == "console" }.flatMap { ShellCommand.all(in: $0.text) }
        let files = page.blocks.enumerated().map { ("files/\($0.offset)", $0.element.text + "\n") }
        let texts = Dictionary(files) { $1 }.merging(["page.sh": try Self.script(of: page, ports)]) { $1 }
        var environment = ProcessInfo.processInfo.environment
        // The server refuses variables that it does not know.
        environment[ProgramProcess.variable] = nil
        environment["CONCIERGE_HOST"] = "127.0.0.1"
        environment["CONCIERGE_PORT"] = ports[0]
        environment["CONCIERGE_ADMIN_PORT"] = ports[1]
        let others = ["http://localhost:\(ports[0])/", "http://localhost:\(ports[2])/"]
        // What is refused, and what a server that ends and starts again says: its events have no past.
        let refusals = ["favicon.ico", "400", "410", "503", "ERR_"]
        try await withBrowser(expecting: refusals, others: others) { browser in
            try await withFolder(texts) { _, folder in
                try #require(mkfifo("\(folder)/go", 0o600) == 0)
                let go = try #require(FileHandle(forUpdatingAtPath: "\(folder)/go"))
                let process = try ProgramProcess(
                    [], environment: environment, through: ["/usr/bin/bash", "\(folder)/page.sh"])
                for visit in [Self.reserve, Self.goOn] {
                    do {
                        _ = try await process.line(of: "look")
                        try await visit(browser, others[1])
                    } catch {
                        // The script goes on to its end, where it stops what it has started.
                        Issue.record(error)
                    }
                    try go.write(contentsOf: Data("\n".utf8))
                }
                let result = try await process.result()
                #expect(result.status == 0, "\(result.complaints)")
                let outputs = ShellCommand.outputs(in: result.output)
                #expect(outputs.count == commands.count, "\(result.output)")
                for (command, output) in zip(commands, outputs) {
                    #expect(output.isShown(as: command.output), "\(command.text)\n\(output)")
                }
            }
        }
    }

    // MARK: What the page tells to do in the browser

    private static func reserve(_ browser: Browser, _ address: String) async throws {
        try await browser.open(address)
        try await browser.wait(for: isOn("A table for how many?"))
        try await choose(4, browser)
        try await browser.wait(for: button("next"))
        try await choose(12, browser)
        try await browser.wait(for: "document.querySelector('p').textContent.includes('does not accept')")
        let first = try await browser.tab
        try await browser.openTab()
        try await browser.open(address)
        try await press("next", browser)
        try await browser.wait(for: isOn("Shall we lay the table?"))
        try await browser.show(tab: first)
        try await browser.wait(for: isOn("Shall we lay the table?"))
        try await browser.driver.command("POST", "/refresh")
        try await browser.wait(for: isOn("Shall we lay the table?"))
    }

    private static func goOn(_ browser: Browser, _ address: String) async throws {
        try await press("back", browser)
        try await browser.wait(for: isOn("A table for how many?"))
        try await press("next", browser)
        try await browser.wait(for: isOn("Is it a birthday?"))
        #expect(try await browser.evaluate("document.querySelector('p').textContent") == "Guests: 4")
        try await press("birthday", browser)
        try await browser.wait(for: isOn("See you tonight"))
    }

    private static func isOn(_ title: String) -> String { "document.querySelector('h1').textContent === '\(title)'" }

    private static func button(_ name: String) -> String {
        "[...document.querySelectorAll('div button')].find((one) => one.textContent === '\(name)')"
    }

    private static func press(_ name: String, _ browser: Browser) async throws {
        try await browser.wait(for: button(name))
        try await browser.run("\(button(name)).click(); done(true)")
    }

    private static func choose(_ guests: Int, _ browser: Browser) async throws {
        try await browser.run(
            "document.forms[0].guests.value = '\(guests)'; document.querySelector('form button').click(); done(true)")
    }

    // MARK: The shell

    /// The page as a script of bash, which gets the path of the program. Behind the output of each command is a
    /// character that no program prints. Where the reader turns to the browser it says so on standard error, and waits
    /// for a line in `go`.
    private static func script(of page: DocumentationPage, _ ports: [String]) throws -> String {
        let look = #"echo '{"event":"look"}' >&3; read -r _ <../go"# + "\n"
        var script = """
            set -e
            exec 3>&2 2>&1 4</dev/null
            trap 'kill $(jobs -p) 2>/dev/null || true; rm -rf "$folder/supper"' EXIT
            folder=$(dirname "$0")
            cd "$folder"
            mkdir -p concierge/.build
            ln -s '\(ShippedFiles.directory)'/* concierge
            ln -s "$(dirname "$1")" concierge/.build/release
            cd concierge

            """
        let lookAround = page.sections.dropLast().last?.blocks.last?.line
        for (number, block) in page.blocks.enumerated() {
            if number == page.blocks.count - 1 { script += look }
            if let path = block.path {
                script += "mkdir -p \"$(dirname \(path))\"; cp ../files/\(number) \(path)\n"
            } else {
                try #require(block.language == "console", "line \(block.line)")
                for command in ShellCommand.all(in: block.text) {
                    script += "{ \(command.text)\n} <&4; printf '\\036'\n"
                    guard command.text.hasSuffix("&") else { continue }
                    let port = command.text.hasPrefix("concierge") ? ports[0] : ports[2]
                    script +=
                        "timeout 60 sh -c 'until curl -s -o \"$0\" localhost:\(port); do sleep 0.02; done' /dev/null\n"
                }
            }
            if block.line == lookAround { script += look }
        }
        return script
    }

    /// Three ports that nothing listens on, outside of the range from which the system takes those of others.
    private static func freePorts() throws -> [String] {
        var ports: Set<String> = []
        while ports.count < 3 {
            let port = UInt16.random(in: 20_000..<30_000)
            if (try? RawConnection(port: port)) == nil { ports.insert("\(port)") }
        }
        return Array(ports)
    }
}
