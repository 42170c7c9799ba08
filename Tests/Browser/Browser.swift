import Configuration
import Foundation
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// A browser with a page of an application that runs beside it.
struct Browser: Sendable {
    let app: RunningApplication
    let driver: ChromeDriver

    var origin: String { "http://127.0.0.1:\(app.publicPort)" }
    /// That of the console.
    var adminOrigin: String { "http://127.0.0.1:\(app.adminPort)" }

    func open(_ address: String) async throws {
        try await driver.command("POST", "/url", ["url": JSONDocument(address)])
    }

    /// Opens the demo and waits until both panes are drawn.
    func openDemo(_ fragment: String = "") async throws {
        // With another fragment alone the page would stay.
        try await open("about:blank")
        try await open("\(origin)/demo\(fragment)")
        try await isReady()
    }

    /// Opens the console at a page of it, such as `#/journeys`, and waits for a heading.
    func openConsole(_ page: String = "", heading: String) async throws {
        try await open("about:blank")
        try await open("\(adminOrigin)/console\(page)")
        try await wait(forHeading: heading)
    }

    /// Waits until the console shows a page with that heading.
    func wait(forHeading heading: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try await wait(
            for: "document.querySelector('main:not([aria-busy]) h1')?.textContent === '\(heading)'",
            sourceLocation: sourceLocation)
    }

    func isReady() async throws { try await wait(for: "document.documentElement.dataset.ready === 'true'") }

    /// The value of an expression of the page.
    @discardableResult
    func evaluate(_ expression: String, _ arguments: JSONDocument...) async throws -> JSONDocument {
        try await driver.command(
            "POST", "/execute/sync",
            ["script": JSONDocument("return (\(expression))"), "args": JSONDocument(arguments)])
    }

    /// What statements give to `done`.
    @discardableResult
    func run(_ statements: String) async throws -> JSONDocument {
        let script = "const done = arguments[0]; (async () => { \(statements) })().catch((e) => done('error: ' + e))"
        let value = try await driver.command("POST", "/execute/async", ["script": JSONDocument(script), "args": []])
        if let text = value.string, text.hasPrefix("error: ") { throw ChromeDriver.Failure(description: text) }
        return value
    }

    /// Returns when an expression of the page is true.
    func wait(for expression: String, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        let isTrue = try await run(
            """
            const end = performance.now() + 30000;
            const look = () => {
                let value = false;
                try { value = \(expression) } catch {}
                if (value || performance.now() > end) done(Boolean(value)); else setTimeout(look, 10);
            };
            look();
            """)
        guard isTrue.bool == true else {
            let page = try await evaluate("document.body.innerText").string ?? ""
            Issue.record("never: \(expression)\n\(page)", sourceLocation: sourceLocation)
            throw ChromeDriver.Failure(description: "never: \(expression)")
        }
    }

    /// Waits until a pane shows a screen with that title, in its modal if it has one open.
    func wait(
        in pane: String = "first", forScreen title: String, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        try await wait(for: "\(Self.heading(of: pane)) === '\(title)'", sourceLocation: sourceLocation)
    }

    func screen(of pane: String = "first") async throws -> String? { try await evaluate(Self.heading(of: pane)).string }

    private static func heading(of pane: String) -> String {
        """
        (document.querySelector("#\(pane) dialog[open] h3") ?? document.querySelector("#\(pane) [data-part=stage] h3"))?.textContent
        """
    }

    /// Clicks as a person does: on the visible middle of it, with the mouse.
    func click(_ text: String, in pane: String = "first", sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        let element = """
            [...document.querySelectorAll("#\(pane) button, #\(pane) a, #\(pane) input[type=checkbox]")].find((e) =>
                (e.labels?.[0] ?? e).textContent.trim() === "\(text)" && !e.closest("[inert]") && e.checkVisibility())
            """
        try await wait(for: element, sourceLocation: sourceLocation)
        try await driver.command("POST", "/element/\(try await id(of: element))/click")
    }

    /// Types into the field with that label.
    func type(_ text: String, into label: String, in pane: String = "first") async throws {
        let element = """
            [...document.querySelectorAll("#\(pane) input, #\(pane) textarea, #\(pane) select")].find((e) =>
                e.labels?.[0]?.firstChild.textContent.trim() === "\(label)" && !e.closest("[inert]"))
            """
        try await wait(for: element)
        let id = try await id(of: element)
        if try await evaluate("\(element).matches('input, textarea')").bool == true {
            try await driver.command("POST", "/element/\(id)/clear")
        }
        try await driver.command("POST", "/element/\(id)/value", ["text": JSONDocument(text)])
    }

    /// Shows another flow in a pane.
    func choose(_ flow: String, in pane: String = "second") async throws {
        let option = "document.querySelector('#\(pane) [data-part=flow] [value=\(flow)]')"
        try await driver.command("POST", "/element/\(try await id(of: option))/click")
    }

    /// The reference of an element (WebDriver, section 12.2).
    private func id(of expression: String) async throws -> String {
        try #require(try await evaluate(expression)[string: "element-6066-11e4-a52e-4f735466cecf"])
    }

    /// Presses keys, one after the other, wherever the focus is.
    func press(_ keys: String..., holding modifier: String? = nil) async throws {
        var strokes = keys.flatMap { key -> [JSONDocument] in
            [["type": "keyDown", "value": JSONDocument(key)], ["type": "keyUp", "value": JSONDocument(key)]]
        }
        if let modifier {
            strokes.insert(["type": "keyDown", "value": JSONDocument(modifier)], at: 0)
            strokes.append(["type": "keyUp", "value": JSONDocument(modifier)])
        }
        try await driver.command(
            "POST", "/actions", ["actions": [["type": "key", "id": "keyboard", "actions": JSONDocument(strokes)]]])
    }

    // MARK: Tabs

    var tab: String { get async throws { try await driver.command("GET", "/window").string ?? "" } }

    /// Opens a tab and goes there.
    func openTab() async throws {
        let tab = try await driver.command("POST", "/window/new", ["type": "tab"])[string: "handle"] ?? ""
        try await show(tab: tab)
    }

    func show(tab: String) async throws { try await driver.command("POST", "/window", ["handle": JSONDocument(tab)]) }

    // MARK: What the browser has noticed

    /// Messages of the console since the last look, of all levels.
    func messages() async throws -> [String] {
        try await driver.command("POST", "/se/log", ["type": "browser"]).elements?.compactMap { $0[string: "message"] }
            ?? []
    }

    /// The addresses that were asked for since the last look.
    func requests() async throws -> [String] {
        let log = try await driver.command("POST", "/se/log", ["type": "performance"]).elements ?? []
        return log.compactMap { entry in
            guard let message = entry[string: "message"].flatMap({ try? JSONDocument(parsing: Array($0.utf8)) }),
                let event = message[member: "message"], event[string: "method"] == "Network.requestWillBeSent"
            else { return nil }
            return event[member: "params"]?[member: "request"]?[string: "url"]
        }
    }

    /// Makes the page that large, whatever the window has around it.
    func resize(width: Int, height: Int) async throws {
        try await driver.command(
            "POST", "/goog/cdp/execute",
            [
                "cmd": "Emulation.setDeviceMetricsOverride",
                "params": [
                    "width": JSONDocument(width), "height": JSONDocument(height), "deviceScaleFactor": 1,
                    "mobile": false,
                ],
            ])
    }

    /// A picture of the page, as WebP.
    func screenshot() async throws -> Data {
        let answer = try await driver.command(
            "POST", "/goog/cdp/execute",
            ["cmd": "Page.captureScreenshot", "params": ["format": "webp", "quality": 80]])
        return try #require(Data(base64Encoded: answer[string: "data"] ?? ""))
    }

    func goOffline(_ isOffline: Bool) async throws {
        let none: JSONDocument = [
            "offline": JSONDocument(isOffline), "latency": 0, "download_throughput": -1, "upload_throughput": -1,
        ]
        try await driver.command("POST", "/chromium/network_conditions", ["network_conditions": none])
    }

    func emulate(colorScheme: String) async throws {
        try await driver.command(
            "POST", "/goog/cdp/execute",
            [
                "cmd": "Emulation.setEmulatedMedia",
                "params": ["features": [["name": "prefers-color-scheme", "value": JSONDocument(colorScheme)]]],
            ])
    }
}

/// Starts what `make run` serves, and a browser; checks afterwards that the console has nothing to say, and that the
/// browser has asked nobody else.
///
/// - Parameters:
///   - expecting: what messages of the console may contain, such as the refusals that a test provokes.
///   - flows: in addition to those that are shipped.
func withBrowser<Result: Sendable>(
    expecting: [String] = [], others: [String] = [], flows: [String] = [],
    sourceLocation: SourceLocation = #_sourceLocation,
    _ configure: (inout Configuration) -> Void = { _ in }, _ body: (Browser) async throws -> Result
) async throws -> Result {
    let (services, flows) = (try ShippedFiles.services(), try ShippedFiles.flows() + flows)
    return try await withApplication(services: services, flows: flows) { configuration in
        configuration.demo = true
        configuration.mainFlow = "main"
        configuration.cookie.secure = false
        configure(&configuration)
    } _: { app in
        let browser = Browser(app: app, driver: try await blocking { try ChromeDriver() })
        let result = try await body(browser)
        for message in try await browser.messages() where !expecting.contains(where: { message.contains($0) }) {
            Issue.record("the console says: \(message)", sourceLocation: sourceLocation)
        }
        for address in try await browser.requests()
        where address.hasPrefix("http") && !address.hasPrefix("\(browser.origin)/") {
            let isKnown = (others + ["\(browser.adminOrigin)/"]).contains { address.hasPrefix($0) }
            #expect(isKnown, "asked for \(address)", sourceLocation: sourceLocation)
        }
        return result
    }
}
