import JSONDocument
import Support
import Testing

/// One at a time: each starts a browser.
@Suite("The console in Chromium", .serialized)
struct ConsoleTests {
    private static let screen = "document.querySelector('main dd strong').textContent"

    /// Presses a button of the page, and the one of the question.
    private static func act(_ label: String, _ browser: Browser) async throws {
        try await browser.click(label, in: "content")
        try await browser.click(label, in: "question")
    }

    private static func wait(forStatus text: String, _ browser: Browser) async throws {
        try await browser.wait(for: "document.getElementById('status').textContent === '\(text)'")
    }

    @Test(
        "from the id of a user whose checkout hangs it is four clicks until the journey goes on, and the page follows")
    func hangingCheckout() async throws {
        try await Self.withConsole { browser in
            let person = try await Self.hanging(browser)
            try await browser.openConsole(heading: "Journeys")
            try await browser.type("ada", into: "User", in: "content")
            try await browser.evaluate(
                "addEventListener('click', () => window.clicks = (window.clicks ?? 0) + 1, true)")
            try await browser.click("Find", in: "content")
            try await browser.click("order 1", in: "content")
            try await browser.wait(forHeading: "Journey order")
            let text = try await browser.evaluate("document.querySelector('main').innerText").string ?? ""
            for shown in ["the bank does not answer", "1 of 3", "active, busy", "ada"] {
                #expect(text.contains(shown), "\(shown)")
            }
            #expect(try await browser.evaluate("document.querySelector('.state.here .name').textContent") == "paying")
            try await Self.act("Retry", browser)
            try await Self.wait(forStatus: "charge-card: done.", browser)
            // A click that sends a form by itself is one of the page, as is that of a label.
            #expect(try await browser.evaluate("window.clicks") == 4)
            #expect(try await browser.app.endTask("charge-card", #"{"outcome":"paid"}"#) == 204)
            try await browser.wait(for: "\(Self.screen) === 'thanks'")
            #expect(
                try await browser.evaluate("document.getElementById('status').textContent")
                    == "The journey is on thanks.")
            #expect(try await person.client.get(person.journey)[member: "screen"]?[string: "id"] == "thanks")
        }
    }

    @Test("moves, starts over and ends a journey, finishes and gives up its task, and ends a session; each asks before")
    func actions() async throws {
        try await Self.withConsole(expecting: ["status of 409", "status of 404", "status of 412"]) { browser in
            let person = try await Self.hanging(browser)
            try await browser.openConsole(person.page, heading: "Journey order")
            try await browser.click("Finish", in: "content")
            try await browser.click("Cancel", in: "question")
            #expect(try await browser.evaluate("document.activeElement.textContent") == "Finish")
            try await browser.click("Fail", in: "content")
            try await browser.type("nobody answers", into: "Reason", in: "question")
            try await browser.click("Fail", in: "question")
            try await browser.wait(for: "\(Self.screen) === 'sorry'")
            #expect(try await person.send("again").status == 200)
            try await browser.wait(for: "\(Self.screen) === 'paying'")
            try await browser.click("Finish", in: "content")
            try await browser.type("paid", into: "Outcome", in: "question")
            try await browser.type("{", into: "Output, as JSON", in: "question")
            try await browser.click("Finish", in: "question")
            try await browser.wait(
                for: "document.getElementById('complaint').textContent === 'The output is not JSON.'")
            try await browser.click("Finish", in: "content")
            try await browser.type("paid", into: "Outcome", in: "question")
            try await browser.click("Finish", in: "question")
            try await browser.wait(for: "\(Self.screen) === 'thanks'")
            try await Self.act("Start over", browser)
            try await browser.wait(for: "\(Self.screen) === 'basket'")
            try await browser.click("Go to a screen", in: "content")
            try await browser.type("sorry", into: "Screen", in: "question")
            try await browser.click("Go to a screen", in: "question")
            try await browser.wait(
                for: "document.getElementById('complaint').textContent.includes('is blocked at the screen')")
            #expect(try await person.send("look").status == 200)
            try await browser.wait(for: "\(Self.screen) === 'shelf'")
            #expect(
                try await browser.evaluate(
                    "[...document.querySelectorAll('.state.here .name')].map((e) => e.textContent)")
                    == ["looking", "shelf"])
            try await browser.click("Go to a screen", in: "content")
            try await browser.type("basket", into: "Screen", in: "question")
            try await browser.click("Go to a screen", in: "question")
            try await Self.wait(forStatus: "The journey was moved.", browser)
            #expect(try await browser.evaluate(Self.screen) == "basket")
            try await browser.wait(for: "document.querySelector('main').innerText.includes('give')")
            try await Self.act("End journey", browser)
            try await Self.wait(forStatus: "The journey was ended.", browser)
            #expect(try await person.client.get(person.journey).status == 404)
            try await browser.openConsole("#/session/\(person.session)", heading: "Session")
            try await Self.act("End session", browser)
            try await Self.wait(forStatus: "The session has ended.", browser)
            #expect(try await person.client.get("/v1/sessions/current").status == 401)
        }
    }

    @Test("an action on a journey that has moved meanwhile is refused")
    func meanwhile() async throws {
        try await Self.withConsole(expecting: ["status of 412"]) { browser in
            let person = try await Self.order(browser)
            try await browser.openConsole(person.page, heading: "Journey order")
            try await browser.click("Start over", in: "content")
            // While the question is open, the page stands still.
            #expect(try await person.send("look").status == 200)
            try await browser.click("Start over", in: "question")
            try await browser.wait(for: "document.getElementById('complaint').textContent !== ''")
            try await browser.wait(for: "\(Self.screen) === 'shelf'")
        }
    }

    @Test("a change leaves the focus and what is open where they are")
    func focus() async throws {
        try await Self.withConsole { browser in
            let person = try await Self.order(browser)
            let patch = #"{"name":"Grace"}"#
            #expect(try await person.client.patch("\(person.journey)/services/profile", patch).status == 200)
            try await browser.openConsole(person.page, heading: "Journey order")
            try await browser.evaluate("document.querySelector('[data-key=\"data profile\"]').open = true")
            try await browser.wait(for: "document.querySelector('details pre').textContent.includes('Grace')")
            try await browser.evaluate("document.querySelector('[data-key=\"Start over\"]').focus()")
            #expect(
                try await person.client.patch("\(person.journey)/services/profile", #"{"name":"Ada"}"#).status == 200)
            try await browser.wait(for: "document.querySelector('details[open] pre').textContent.includes('Ada')")
            #expect(try await browser.evaluate("document.activeElement.dataset.key") == "Start over")
            #expect(try await person.send("pay").status == 200)
            try await browser.wait(for: "\(Self.screen) === 'paying'")
            #expect(try await browser.evaluate("document.activeElement.dataset.key") == "Start over")
        }
    }

    @Test("finds sessions and tasks, says what a query cannot be, and goes through pages")
    func finding() async throws {
        try await Self.withConsole(expecting: ["status of 400", "status of 404"]) { browser in
            let person = try await Self.hanging(browser)
            for _ in 0..<50 { _ = try await browser.app.newSession() }
            try await browser.openConsole(heading: "Journeys")
            #expect(try await browser.evaluate("document.querySelector('main table')") == .null)
            try await browser.type("soon", into: "Without a step for", in: "content")
            try await browser.click("Find", in: "content")
            try await browser.wait(
                for: "document.getElementById('complaint').textContent.includes('older_than must be')")
            #expect(try await browser.evaluate("document.querySelector('input[name=older_than]').value") == "soon")
            try await browser.click("Tasks", in: "pages")
            try await browser.wait(forHeading: "Tasks")
            #expect(try await browser.evaluate("document.getElementById('complaint').textContent") == "")
            try await browser.type("waiting", into: "Status", in: "content")
            try await browser.click("Find", in: "content")
            try await browser.wait(for: "document.querySelector('tbody td').textContent === 'waiting'")
            try await browser.click("charge-card", in: "content")
            try await browser.wait(forHeading: "Journey order")
            try await browser.click(person.session, in: "content")
            try await browser.wait(forHeading: "Session")
            try await browser.click("ada", in: "content")
            try await browser.wait(forHeading: "Sessions")
            try await browser.wait(for: "document.querySelectorAll('tbody tr').length === 1")
            try await browser.openConsole("#/sessions?", heading: "Sessions")
            try await browser.wait(for: "document.querySelectorAll('tbody tr').length === 50")
            try await browser.click("Next page", in: "content")
            try await browser.wait(for: "document.querySelectorAll('tbody tr').length === 1")
            for (page, heading) in [
                ("#/nothing", "There is no such page"), ("#/__proto__", "There is no such page"),
                ("#/session/ses_x", "Not found"), ("#/session/%", "That did not work"),
            ] { try await browser.openConsole(page, heading: heading) }
        }
    }

    @Test("shows the funnel of a flow: the same numbers in the picture and in the table")
    func funnel() async throws {
        try await Self.withConsole { browser in
            let person = try await Self.order(browser)
            #expect(try await person.send("look").status == 200)
            #expect(try await person.send("enough").status == 200)
            _ = try await Self.hanging(by: "eve", browser)
            try await browser.openConsole("#/flows", heading: "Flows")
            try await browser.click("order", in: "content")
            try await browser.wait(forHeading: "Flow order")
            try await browser.click("Version 1", in: "content")
            try await browser.wait(for: "document.querySelector('main [aria-current]').textContent === 'Version 1'")
            let pictured = try await browser.evaluate(
                "[...document.querySelectorAll('.edge title')].map((e) => e.textContent).sort()")
            #expect(pictured.elements?.contains("(start) → basket: 2 · 2 · 2") == true, "\(pictured)")
            #expect(pictured.elements?.contains("basket → looking: 1 · 1 · 1") == true, "\(pictured)")
            #expect(pictured.elements?.contains("paying → thanks: 0 · 0 · 0") == true, "\(pictured)")
            let listed = try await browser.evaluate(
                """
                [...document.querySelectorAll('table')[0].tBodies[0].rows].map(({ cells: [from, to, ...numbers] }) =>
                    `${from.textContent} → ${to.textContent}: ${numbers.map((n) => n.textContent).join(' · ')}`).sort()
                """)
            #expect(pictured == listed)
            // Nothing is drawn outside of the picture.
            let isWithin = try await browser.evaluate(
                """
                (() => { const { width, height } = document.querySelector('main svg').viewBox.baseVal;
                  return [...document.querySelectorAll('main svg g')].every((g) => { const b = g.getBBox();
                    return b.x >= 0 && b.y >= 0 && b.x + b.width <= width && b.y + b.height <= height; }); })()
                """)
            #expect(isWithin == true)
            try await browser.click("1", in: "content")
            try await browser.wait(forHeading: "Journeys")
            try await browser.wait(for: "document.querySelectorAll('tbody tr').length === 1")
        }
    }

    @Test("needs the admin key where the listener has one, until the sign-out or the end of the cookie")
    func signIn() async throws {
        try await Self.withConsole(hasKey: true, expecting: ["status of 401"]) { browser in
            _ = try await Self.order(browser, key: Self.key)
            try await browser.openConsole("#/journeys?user_id=ada", heading: "Sign in")
            #expect(try await browser.evaluate("document.querySelector('nav').checkVisibility()") == false)
            #expect(try await browser.evaluate("document.activeElement.name") == "key")
            try await browser.type("wrong-key-0123456789", into: "Admin key", in: "content")
            try await browser.click("Sign in", in: "content")
            try await browser.wait(for: "document.getElementById('complaint').textContent.startsWith('This is not')")
            try await browser.type(Self.key, into: "Admin key", in: "content")
            try await browser.click("Sign in", in: "content")
            try await browser.wait(forHeading: "Journeys")
            try await browser.wait(for: "document.querySelectorAll('tbody tr').length === 1")
            #expect(try await browser.evaluate("document.cookie") == "")
            #expect(
                try await browser.evaluate("Object.keys(localStorage).length + Object.keys(sessionStorage).length") == 0
            )
            try await browser.driver.command("POST", "/refresh")
            try await browser.wait(forHeading: "Journeys")
            // What ends meanwhile is asked for where it is noticed, and what was there is shown again.
            try await browser.driver.command("DELETE", "/cookie")
            try await browser.click("order 1", in: "content")
            try await browser.wait(forHeading: "Sign in")
            #expect(try await browser.evaluate("document.body.textContent.includes('ada')") == false)
            try await browser.type(Self.key, into: "Admin key", in: "content")
            try await browser.press("\u{E007}")
            try await browser.wait(forHeading: "Journey order")
            // The next look at the journey is under way when the sign-out comes: its response would set a cookie.
            try await browser.evaluate(
                """
                (() => { const send = window.fetch; window.fetch = (url, request) => {
                  if (request.method !== 'GET' || window.held) return send(url, request);
                  window.held = request.signal; return new Promise(() => {}); }; })()
                """)
            try await browser.wait(for: "window.held")
            try await browser.click("Sign out", in: "pages")
            try await browser.wait(forHeading: "Sign in")
            #expect(try await browser.evaluate("window.held.aborted") == true)
            #expect(try await browser.evaluate("document.body.textContent.includes('ada')") == false)
            try await browser.driver.command("POST", "/refresh")
            try await browser.wait(forHeading: "Sign in")
        }
    }

    @Test("everything can be done with the keyboard alone")
    func keyboard() async throws {
        try await Self.withConsole { browser in
            _ = try await Self.hanging(browser)
            try await browser.openConsole(heading: "Journeys")
            let (tab, enter, escape) = ("\u{E004}", "\u{E007}", "\u{E00C}")
            func go(to text: String) async throws {
                for _ in 0..<60 {
                    try await browser.press(tab)
                    let focused = try await browser.evaluate(
                        "(document.activeElement.labels?.[0] ?? document.activeElement).textContent.trim()")
                    guard focused == JSONDocument(text) else { continue }
                    // What has the focus can be seen to have it.
                    #expect(
                        try await browser.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid")
                    return
                }
                Issue.record("no way to \(text)")
            }
            #expect(try await browser.evaluate("document.activeElement.tagName") == "H1")
            try await go(to: "User")
            try await browser.press("a", "d", "a", enter)
            try await browser.wait(for: "document.querySelector('tbody a')")
            try await go(to: "order 1")
            try await browser.press(enter)
            try await browser.wait(forHeading: "Journey order")
            #expect(try await browser.evaluate("document.activeElement.tagName") == "H1")
            try await go(to: "Retry")
            try await browser.press(enter)
            try await browser.wait(for: "document.querySelector('dialog[open]').contains(document.activeElement)")
            try await browser.press(escape)
            try await browser.wait(for: "document.activeElement.textContent === 'Retry'")
            try await browser.press(enter)
            try await browser.wait(for: "document.activeElement.matches('dialog button')")
            try await browser.press(enter)
            try await Self.wait(forStatus: "charge-card: done.", browser)
            #expect(try await browser.evaluate("document.activeElement.textContent") == "Retry")
            // Back to the first thing of the page, which leads past the rest of its head.
            for _ in 0..<60 {
                try await browser.press(tab, holding: "\u{E008}")
                if try await browser.evaluate("document.activeElement.className") == "skip" { break }
            }
            try await browser.press(enter)
            try await browser.wait(for: "document.activeElement.id === 'content' && document.querySelector('h1')")
        }
    }

    @Test("what persons and back ends have written is text, whatever it looks like")
    func hostile() async throws {
        try await Self.withConsole { browser in
            let hostile = #"<img src=x onerror="window.hacked=1">'"/../?#&"#
            let person = try await Self.hanging(by: hostile, because: hostile, browser)
            let label: JSONDocument = ["labels": ["<b>plan": JSONDocument(hostile)]]
            let name: JSONDocument = ["name": JSONDocument(hostile)]
            func text(_ document: JSONDocument) -> String { String(decoding: document.serialized(), as: UTF8.self) }
            #expect(try await person.client.patch("/v1/sessions/current", text(label)).status == 200)
            let profile = "/v1/sessions/current/services/profile"
            #expect(try await person.client.patch(profile, text(name)).status == 200)
            func check(_ place: String) async throws {
                let wanted = try await browser.evaluate(
                    "document.querySelector('main').textContent.includes(arguments[0])", JSONDocument(hostile))
                #expect(wanted == true, "\(place)")
                #expect(
                    try await browser.evaluate("document.querySelectorAll('main img, main b b, main script').length")
                        == 0)
                #expect(try await browser.evaluate("window.hacked === undefined") == true, "\(place)")
            }
            try await browser.openConsole("#/journeys?flow=order", heading: "Journeys")
            try await check("journeys")
            try await browser.click("order 1", in: "content")
            try await browser.wait(forHeading: "Journey order")
            try await check("journey")
            try await browser.evaluate("document.querySelector('[data-key=\"data profile\"]').open = true")
            try await browser.wait(for: "document.querySelector('details pre').textContent.includes('onerror')")
            try await browser.click(person.session, in: "content")
            try await browser.wait(forHeading: "Session")
            try await check("session")
            try await browser.wait(for: "document.querySelector('main').textContent.includes('Label <b>plan')")
            // Its name leads to the person's own sessions.
            try await browser.evaluate("document.querySelector('dd a').click()")
            try await browser.wait(forHeading: "Sessions")
            try await browser.wait(for: "document.querySelectorAll('tbody tr').length === 1")
            try await check("sessions")
            try await browser.openConsole("#/tasks?status=waiting", heading: "Tasks")
            try await check("tasks")
        }
    }

    @Test(
        "axe-core finds no violation on any page at any width, and none is wider than the window",
        arguments: ["light", "dark"])
    func accessibility(colorScheme: String) async throws {
        try await Self.withConsole { browser in
            try await browser.emulate(colorScheme: colorScheme)
            let person = try await Self.hanging(browser)
            let pages = [
                ("#/journeys?user_id=ada", "Journeys"), ("#/sessions?", "Sessions"), ("#/tasks?", "Tasks"),
                ("#/session/\(person.session)", "Session"), (person.page, "Journey order"), ("#/flows", "Flows"),
                ("#/flow/order", "Flow order"), ("#/flow/application?version=1", "Flow application"),
                ("#/nothing", "There is no such page"),
            ]
            // Other colours have another contrast, but no other layout.
            for width in colorScheme == "dark" ? [1280] : [360, 768, 1280] {
                try await browser.resize(width: width, height: 800)
                for (page, heading) in pages {
                    try await browser.openConsole(page, heading: heading)
                    try await browser.evaluate("document.querySelectorAll('details').forEach((d) => (d.open = true))")
                    try await browser.checkAccessibility("\(page) at \(width)")
                    #expect(
                        try await browser.evaluate("document.documentElement.scrollWidth <= innerWidth") == true,
                        "\(page) at \(width)")
                }
                try await browser.openConsole(person.page, heading: "Journey order")
                try await browser.click("Finish", in: "content")
                try await browser.checkAccessibility("question at \(width)")
            }
        }
        try await Self.withConsole(hasKey: true, expecting: ["status of 401"]) { browser in
            try await browser.emulate(colorScheme: colorScheme)
            for width in colorScheme == "dark" ? [1280] : [360, 1280] {
                try await browser.resize(width: width, height: 800)
                try await browser.openConsole(heading: "Sign in")
                try await browser.checkAccessibility("sign-in at \(width)")
            }
        }
    }
}
