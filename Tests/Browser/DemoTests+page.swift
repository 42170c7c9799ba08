import JSONDocument
import Support
import Testing

/// How the page is laid out, and what it says.
extension DemoTests {
    /// A desk, a tablet, a phone.
    private static let sizes = [(1280, 800), (820, 1180), (390, 844)]

    @Test("shows both visitors and what is behind the desk without scrolling at 1280 by 800")
    func desk() async throws {
        try await withBrowser { browser in
            try await browser.resize(width: 1280, height: 800)
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            let hidden = try await browser.evaluate(
                """
                [...document.querySelectorAll("main h2, .card, .behind, .behind > *, .behind h4, .behind pre")].filter((e) => {
                    const { top, bottom, left, right, height } = e.getBoundingClientRect();
                    return top < 0 || bottom > 800 || left < 0 || right > 1280 || height < 10;
                }).map((e) => e.outerHTML)
                """)
            #expect(hidden == [])
            #expect(try await browser.evaluate("document.documentElement.scrollWidth") == 1280)
            let heights = "[...document.querySelectorAll('.drawing, .card')].map((e) => e.clientHeight > 120)"
            #expect(try await browser.evaluate(heights) == [true, true, true, true])
        }
    }

    @Test("shows one visitor at a time on a phone, as wide as it is")
    func phone() async throws {
        try await withBrowser { browser in
            try await browser.resize(width: 390, height: 844)
            try await browser.openDemo()
            try await browser.wait(forScreen: "Who are you?")
            func visible() async throws -> JSONDocument {
                try await browser.evaluate(
                    "[...document.querySelectorAll('.pane')].filter((e) => e.checkVisibility()).map(({ id }) => id)")
            }
            #expect(try await visible() == ["first"])
            try await browser.run("document.querySelector('.visitors [value=second]').click(); done(true)")
            #expect(try await visible() == ["second"])
            let pressed = "document.querySelector('.visitors [aria-pressed=true]').textContent"
            #expect(try await browser.evaluate(pressed) == "Second visitor")
            #expect(try await browser.evaluate("document.documentElement.scrollWidth") == 390)
            // A link into the middle of one visitor shows that one.
            try await browser.openDemo("#first=login")
            #expect(try await visible() == ["first"])
            try await browser.openDemo("#second=login")
            #expect(try await visible() == ["second"])
        }
    }

    @Test("has three cues what to try, whose links give the second visitor another flow")
    func cues() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            #expect(try await browser.evaluate("document.querySelectorAll('.cues li').length") == 3)
            for (flow, screen) in [("checkout", "Where shall we send it?"), ("login", "Please sign in")] {
                try await browser.run("document.querySelector('.cues [href$=\(flow)]').click(); done(true)")
                try await browser.wait(in: "second", forScreen: screen)
            }
            #expect(try await browser.screen() == "Who are you?")
        }
    }

    @Test("draws the flow with the current screen lit, and the flow of a child beside it")
    func drawing() async throws {
        try await withBrowser { browser in
            func isLit(_ states: JSONDocument) async throws {
                let lit = "JSON.stringify([...document.querySelectorAll('#first .here')].map((e) => e.dataset.state))"
                try await browser.wait(for: "\(lit) === '\(states)'")
            }
            try await browser.openDemo()
            try await isLit(["start"])
            try await Self.signIn("Ada", browser)
            try await isLit(["page1"])
            let edges = try await browser.evaluate(
                "[...document.querySelectorAll('#first .edge title')].map((e) => e.textContent)")
            #expect(edges.elements?.contains("page1 → page2: next") == true, "\(edges)")
            try await browser.click("page2")
            try await browser.click("Edit the quotation")
            try await isLit(["quote_editor", "show"])
            // It is within what is seen of the drawing.
            let isSeen = """
                (() => { const place = document.querySelector('#first .drawing').getBoundingClientRect();
                  const lit = [...document.querySelectorAll('#first .here')].at(-1).getBoundingClientRect();
                  return lit.top >= place.top && lit.bottom <= place.bottom; })()
                """
            #expect(try await browser.evaluate(isSeen) == true)
            try await browser.choose("application", in: "first")
            try await browser.click("Cancel")
            try await browser.wait(forScreen: "This journey is finished")
            try await isLit(["cancelled"])
        }
    }

    @Test("speaks the language that is chosen, and keeps it")
    func language() async throws {
        try await withBrowser { browser in
            try await browser.openDemo("#first=login")
            try await browser.wait(forScreen: "Please sign in")
            try await browser.run(
                """
                const select = document.getElementById("language");
                select.value = "de";
                select.dispatchEvent(new Event("change"));
                done(true);
                """)
            try await browser.wait(forScreen: "Bitte melden Sie sich an")
            let tooltip = "document.querySelector('#first option[value=login]').title"
            try await browser.wait(for: "\(tooltip) === 'Anmelden mit Passwort und Code'")
            #expect(try await browser.evaluate("document.querySelector('#first select').value") == "login")
            for _ in 0..<2 {
                #expect(try await browser.evaluate("document.documentElement.lang") == "de")
                #expect(
                    try await browser.evaluate("document.querySelector('#second h2').textContent") == "Zweiter Gast")
                #expect(
                    try await browser.evaluate("document.querySelector('#second .behind').ariaLabel")
                        == "Zweiter Gast: Hinter dem Empfang")
                #expect(
                    try await browser.evaluate("document.querySelector('#second form button').textContent")
                        == "Anmelden")
                try await browser.driver.command("POST", "/refresh")
                try await browser.isReady()
                try await browser.wait(forScreen: "Bitte melden Sie sich an")
            }
        }
    }

    @Test(
        "axe-core finds no violation on any kind of screen, at three widths, in light and dark",
        arguments: ["light", "dark"])
    func accessibility(colorScheme: String) async throws {
        try await withBrowser { browser in
            func check(_ place: String) async throws {
                for (width, height) in Self.sizes {
                    try await browser.resize(width: width, height: height)
                    for visitor in width > 700 ? ["first"] : ["first", "second"] {
                        try await browser.run(
                            "document.querySelector('.visitors [value=\(visitor)]').click(); done(true)")
                        try await browser.checkAccessibility("\(place), \(width) wide, \(visitor) visitor")
                    }
                }
                try await browser.resize(width: 1280, height: 800)
            }
            try await browser.emulate(colorScheme: colorScheme)
            try await browser.openDemo()
            try await check("start")
            try await Self.signIn("Ada", browser)
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
            try await browser.click("Edit the quotation")
            try await browser.wait(forScreen: "The quotation")
            try await browser.choose("checkout")
            try await browser.wait(in: "second", forScreen: "Where shall we send it?")
            try await check("modal and form")
            try await browser.choose("application")
            try await browser.wait(in: "second", forScreen: "What is your name?")
            try await browser.click("Cancel", in: "second")
            try await browser.wait(in: "second", forScreen: "This journey is finished")
            try await browser.click("End it")
            try await browser.wait(forScreen: "This session has ended")
            try await check("ends")
        }
    }
}
