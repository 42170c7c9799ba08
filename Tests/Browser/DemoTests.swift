import Foundation
import JSONDocument
import Support
import Testing

/// One at a time: each starts a browser.
@Suite("The demo in Chromium", .serialized)
struct DemoTests {
    @Test("walks from the sign-in over the modal to the end, which removes the profile; the other pane sees none of it")
    func walk() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            try await browser.wait(forScreen: "Who are you?")
            try await browser.type("Ada", into: "Your name")
            try await browser.click("Sign in")
            try await browser.wait(forScreen: "The first of three pages")
            #expect(try await browser.evaluate("document.querySelector('#first .lead strong').textContent") == "Ada")
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
            try await browser.click("Edit the quotation")
            try await browser.wait(forScreen: "The quotation")
            #expect(try await browser.evaluate("document.querySelector('#first [data-part=stage]').inert") == true)
            try await browser.wait(
                for: "document.querySelector('#first .tree ul ul li b').textContent === 'edit-quote'")
            try await browser.wait(
                for: "document.querySelector('#first .services').textContent.includes('quote-draft')")
            try await browser.click("Edit")
            try await browser.wait(forScreen: "Edit the quotation")
            try await browser.type("Less is more.", into: "Quotation")
            try await browser.click("Save")
            try await browser.wait(forScreen: "The last of three pages")
            #expect(
                try await browser.evaluate("document.querySelector('#first blockquote').textContent") == "Less is more."
            )
            #expect(
                try await browser.evaluate(
                    "[...document.querySelectorAll('#first .stack b')].map((e) => e.textContent)")
                    == ["start", "page1", "page2", "page3"])
            #expect(
                try await browser.evaluate("document.querySelector('#first [data-part=request]').textContent")
                    .string?.contains(#""event": "save""#) == true)
            #expect(try await browser.screen(of: "second") == "Who are you?")
            #expect(
                try await browser.evaluate(
                    "document.querySelector('#second .services').textContent.includes('profile')")
                    == false)
            try await browser.click("Finish")
            try await browser.wait(forScreen: "Who are you?")
            #expect(try await browser.evaluate("document.querySelector('#first-name').value") == "")
            try await browser.wait(
                for: "!document.querySelector('#first .services').textContent.includes('profile')")
        }
    }

    @Test("shows what happens when the profile is kept: the name is still there")
    func keptProfile() async throws {
        try await withBrowser(expecting: ["409"]) { browser in
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            try await browser.click("page3")
            try await browser.wait(forScreen: "The last of three pages")
            try await browser.click("Keep the profile")
            try await browser.click("Finish")
            try await browser.wait(forScreen: "Who are you?")
            try await browser.click("Continue as Ada")
            try await browser.wait(forScreen: "The first of three pages")
        }
    }

    @Test("the browser's back and forward buttons go through the journey, also out of a modal")
    func history() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
            try await browser.click("Edit the quotation")
            try await browser.wait(forScreen: "The quotation")
            try await browser.driver.command("POST", "/back")
            try await browser.wait(forScreen: "The second of three pages")
            #expect(try await browser.evaluate("document.querySelector('#first dialog').open") == false)
            try await browser.driver.command("POST", "/back")
            try await browser.wait(forScreen: "The first of three pages")
            try await browser.wait(for: "location.hash.startsWith('#first=wizard/page1')")
            try await browser.driver.command("POST", "/forward")
            try await browser.wait(forScreen: "The second of three pages")
            try await browser.click("Back")
            try await browser.wait(forScreen: "The first of three pages")
            // The entry of the second page is behind, and has nothing to go back to: the browser goes on to the start.
            try await browser.driver.command("POST", "/back")
            try await browser.wait(forScreen: "Who are you?")
        }
    }

    @Test("a reload and a second tab land on the same screen, and both follow")
    func tabs() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
            try await browser.driver.command("POST", "/refresh")
            try await browser.isReady()
            #expect(try await browser.screen() == "The second of three pages")
            let first = try await browser.tab
            try await browser.openTab()
            try await browser.openDemo()
            #expect(try await browser.screen() == "The second of three pages")
            let second = try await browser.tab
            // The first tab has the stream: it tells the second.
            try await browser.show(tab: first)
            try await browser.click("Next")
            try await browser.show(tab: second)
            try await browser.wait(forScreen: "The last of three pages")
            try await browser.click("Finish")
            try await browser.show(tab: first)
            try await browser.wait(forScreen: "Who are you?")
            // Without the tab that had the stream, the other one takes it over.
            try await browser.driver.command("DELETE", "/window")
            try await browser.show(tab: second)
            let token = try #require(try await browser.evaluate("localStorage.getItem('concierge-demo-first')").string)
            try await browser.app.client().with(token: token).patch(
                "/v1/sessions/current/services/profile", #"{"name":"Grace"}"#)
            try await browser.wait(for: "document.querySelector('#first .lead').textContent.includes('Grace')")
        }
    }

    @Test("two panes walk side by side, and nothing is shared")
    func panes() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            try await Self.signIn("Grace", browser, in: "second")
            for (pane, name) in [("first", "Ada"), ("second", "Grace")] {
                #expect(
                    try await browser.evaluate("document.querySelector('#\(pane) .lead strong').textContent").string
                        == name)
            }
            try await browser.click("End it", in: "second")
            try await browser.wait(in: "second", forScreen: "This session has ended")
            #expect(try await browser.screen() == "The first of three pages")
            try await browser.click("Begin a new session", in: "second")
            try await browser.wait(in: "second", forScreen: "Who are you?")
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
        }
    }

    @Test("links lead into the middle, and say what blocks the way")
    func links() async throws {
        try await withBrowser(expecting: [
            "/navigation?include=schema - Failed to load resource: the server responded with a status of 409"
        ]) { browser in
            try await browser.openDemo("#first=wizard/page3")
            try await browser.wait(forScreen: "Who are you?")
            try await browser.wait(
                for: "document.querySelector('#first [data-part=message]').textContent.includes('profile/name')")
            try await Self.signIn("Ada", browser)
            try await browser.openDemo("#first=wizard/page3&second=checkout")
            try await browser.wait(forScreen: "The last of three pages")
            try await browser.wait(in: "second", forScreen: "Where shall we send it?")
            // From there the way back is that of a person who walked.
            try await browser.driver.command("POST", "/back")
            try await browser.wait(forScreen: "The second of three pages")
        }
    }

    @Test("can be used by the keyboard alone")
    func keyboard() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            let (tab, enter, escape) = ("\u{E004}", "\u{E007}", "\u{E00C}")
            func tabTo(_ text: String) async throws {
                for _ in 0..<20 {
                    try await browser.press(tab)
                    let focused = try await browser.evaluate(
                        "((e) => (e.labels?.[0] ?? e).textContent.trim())(document.activeElement)")
                    if focused.string == text { return }
                }
                Issue.record("the keyboard does not reach \(text)")
            }
            func isFocused(_ title: String) async throws {
                try await browser.wait(forScreen: title)
                try await browser.wait(for: "document.activeElement.textContent === '\(title)'")
            }
            try await tabTo("Your name")
            try await browser.press("A", "d", "a", enter)
            // The focus stands before each new screen, where a screen reader reads its title.
            try await isFocused("The first of three pages")
            try await tabTo("Next")
            try await browser.press(enter)
            try await isFocused("The second of three pages")
            try await tabTo("Edit the quotation")
            try await browser.press(" ")
            try await isFocused("The quotation")
            try await browser.press(escape)
            try await isFocused("The second of three pages")
            try await tabTo("Next")
            try await browser.press(enter)
            try await isFocused("The last of three pages")
            try await tabTo("Keep the profile")
            try await browser.press(" ")
            #expect(try await browser.evaluate("document.activeElement.checked") == true)
            try await tabTo("Finish")
            try await browser.press(enter)
            try await isFocused("Who are you?")
        }
    }

    @Test("draws application, a flow that it does not know, from its schemas")
    func application() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            try await browser.choose("application")
            try await browser.wait(in: "second", forScreen: "What is your name?")
            try await browser.type("Ada Lovelace", into: "Name", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(in: "second", forScreen: "When were you born?")
            try await browser.wait(for: "document.querySelector('#second input[name=born]').type === 'date'")
            try await browser.run("document.querySelector('#second input[name=born]').value = '1990-12-10'; done(true)")
            try await browser.click("Continue", in: "second")
            try await browser.wait(for: "document.querySelector('#second select[name=occupation]')")
            try await browser.type("Studying", into: "Occupation", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(for: "document.querySelector('#second input[name=address]')")
            try await browser.type("London", into: "Address", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(for: "document.querySelector('#second input[name=email]')")
            try await browser.type("ada@example.org", into: "Email", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(in: "second", forScreen: "Check your answers")
            try await browser.click("Change the name", in: "second")
            try await browser.wait(in: "second", forScreen: "What is your name?")
            #expect(
                try await browser.evaluate("document.querySelector('#second input[name=name]').value") == "Ada Lovelace"
            )
            try await browser.click("Continue", in: "second")
            try await browser.wait(in: "second", forScreen: "Check your answers")
            try await browser.click("Send", in: "second")
            try await browser.wait(in: "second", forScreen: "This journey is finished")
            try await browser.click("Start over", in: "second")
            try await browser.wait(in: "second", forScreen: "What is your name?")
        }
    }

    @Test("draws checkout with its child flow")
    func checkout() async throws {
        let refused = "/events?include=schema - Failed to load resource: the server responded with a status of 400"
        try await withBrowser(expecting: [refused]) { browser in
            try await browser.openDemo()
            try await browser.choose("checkout")
            try await browser.wait(in: "second", forScreen: "Where shall we send it?")
            #expect(
                try await browser.evaluate(
                    "[...document.querySelectorAll('#second .basket tr')].map((e) => e.textContent)")
                    == ["1 × Tea, 100 g€4.50Remove", "1 × Cup€9.00Remove", "Total€13.50"])
            for (label, text) in [
                ("Name", "Ada"), ("Street", "12 St James's Square"), ("Postcode", "SW1Y 4JH"), ("City", "London"),
                ("Country", "gb"),
            ] { try await browser.type(text, into: label, in: "second") }
            try await browser.click("Continue", in: "second")
            // What the server finds lands beside the field.
            try await browser.wait(
                for: "document.activeElement.matches('#second input[name=country][aria-invalid=true]')")
            try await browser.type("GB", into: "Country", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(in: "second", forScreen: "How fast?")
            try await browser.type("Express", into: "Method", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(in: "second", forScreen: "How can we reach you, Ada?")
            try await browser.wait(
                for: "document.querySelector('#second .tree ul ul b').textContent === 'verification'")
            try await browser.type("ada@example.org", into: "Email", in: "second")
            try await browser.click("Continue", in: "second")
            try await browser.wait(in: "second", forScreen: "Do you agree?")
            try await browser.click("Agreed", in: "second")
            try await browser.click("I agree", in: "second")
            try await browser.wait(in: "second", forScreen: "How would you like to pay?")
            try await browser.type("Invoice", into: "Method", in: "second")
            try await browser.click("Pay", in: "second")
            try await browser.wait(in: "second", forScreen: "Thank you, Ada")
            #expect(
                try await browser.evaluate("document.querySelector('#second [data-part=back]').checkVisibility()")
                    == false)
            try await browser.click("Done", in: "second")
            try await browser.wait(in: "second", forScreen: "This journey is finished")
        }
    }

    @Test("draws documents of any depth, and a form for data of any schema")
    func anyShape() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await browser.run(
                """
                const { draw } = await import("/demo/screens.js");
                const data = { order: { lines: ["", null, "tea", { sku: "CUP", sizes: [1, { wide: true }] }], empty: [] } };
                const schemas = [{ $ref: "#/$defs/a" }, { oneOf: [{ required: ["a"] }] }, { allOf: [{ type: "object" }] }, {}];
                const events = schemas.map((schema, i) => ({ name: `event${i}`, enabled: true, schema }));
                const sent = [];
                const pane = { id: "pane", send: async (name, data) => sent.push([name, data]) };
                const view = { stack: [{ flow: "any" }], screen: { name: "Any", data }, events };
                const place = document.createElement("main");
                place.append(...draw(view, pane).flat(2).filter(Boolean));
                document.body.append(place);
                const text = place.querySelector("dl").textContent;
                for (const form of place.querySelectorAll("form")) {
                    if (form.querySelector("textarea").value !== "") done("filled with something else");
                    form.querySelector("textarea").value = '{"a":[1]}';
                    form.requestSubmit();
                }
                place.querySelector(".actions > button[type=button]").click();
                await Promise.resolve();
                done([text, sent]);
                """)
            #expect(
                result == [
                    "Linesnot yetnot yetteaSku: CUPSizes: 1Wide: trueEmptynone",
                    [
                        ["event0", ["a": [1]]], ["event1", ["a": [1]]], ["event2", ["a": [1]]], ["event3", nil],
                    ],
                ])
        }
    }

    @Test("an error that it does not expect does not end the browser's history")
    func unexpected() async throws {
        try await withBrowser(expecting: ["planted"]) { browser in
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
            try await browser.run(
                """
                crypto.getRandomValues = () => { throw new TypeError("planted"); };
                const { error } = console;
                console.error = (...parts) => (error(...parts), done(true));
                history.back();
                """)
            try await browser.evaluate("delete crypto.getRandomValues")
            try await browser.click("Next")
            try await browser.wait(forScreen: "The last of three pages")
            try await browser.wait(for: "location.hash.startsWith('#first=wizard/page3')")
        }
    }

    @Test("says that a session has ended elsewhere")
    func ended() async throws {
        // A request may be in progress when the session ends.
        try await withBrowser(expecting: ["status of 401"]) { browser in
            try await browser.openDemo()
            let token = try #require(try await browser.evaluate("localStorage.getItem('concierge-demo-first')").string)
            try await browser.app.client().with(token: token).send("DELETE", "/v1/sessions/current")
            try await browser.wait(forScreen: "This session has ended")
        }
    }

    @Test(
        "has not changed since the pictures of the README were made, which CONCIERGE_SCREENSHOTS=1 does",
        arguments: ["light", "dark"])
    func screenshots(colorScheme: String) async throws {
        try await withBrowser { browser in
            try await browser.emulate(colorScheme: colorScheme)
            try await browser.openDemo()
            try await Self.signIn("Ada", browser)
            try await browser.click("page3")
            try await browser.wait(forScreen: "The last of three pages")
            try await browser.resize(width: 1280, height: 800)
            try await browser.wait(for: "document.querySelector('#first .here').dataset.state === 'page3'")
            let picture = try await browser.screenshot()
            let file = URL(filePath: "\(ShippedFiles.directory)/docs/images/demo-\(colorScheme).webp")
            // Fonts differ from machine to machine, and change a picture more than most changes of the demo do. So what
            // the pictures were made of is compared.
            let made = try await ShellCommand.outputs(
                of: ShellCommand.all(in: "$ sha256sum demo/*"), in: ShippedFiles.directory, addresses: [:])
            let record = "docs/images/made-of.sha256"
            if ProcessInfo.processInfo.environment["CONCIERGE_SCREENSHOTS"] != nil {
                try picture.write(to: file)
                try Data((made.joined() + "\n").utf8).write(to: URL(filePath: "\(ShippedFiles.directory)/\(record)"))
            }
            #expect(try ShippedFiles.text(record) == made.joined() + "\n", "CONCIERGE_SCREENSHOTS=1 makes them anew")
            let shipped = try Data(contentsOf: file)
            // Width and height, by RFC 6386, section 9.1.
            #expect(picture[26..<30] == shipped[26..<30])
            #expect(shipped.count < 80_000)
        }
    }

    /// From the start screen of flow `wizard` to its first page.
    static func signIn(_ name: String, _ browser: Browser, in pane: String = "first") async throws {
        try await browser.wait(in: pane, forScreen: "Who are you?")
        try await browser.type(name, into: "Your name", in: pane)
        try await browser.click("Sign in", in: pane)
        try await browser.wait(in: pane, forScreen: "The first of three pages")
    }
}
