import JSONDocument
import Support
import Testing

/// What is drawn from schemas, documents and views.
extension DemoTests {
    /// Draws a screen outside of a pane, which notes what is sent and called; `place` has it. The statements end with `done`.
    private static func drawing(
        _ events: String, data: String = "{}", expecting: [String] = [], _ statements: String
    ) async throws -> JSONDocument {
        try await withBrowser(expecting: ["favicon.ico"] + expecting) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            return try await browser.run(
                """
                const { draw } = await import("/demo/screens.js");
                const sent = [];
                let refusal = null;
                const catalogue = { items: [{ sku: "TEA", name: "Tea", price: 450 }, { sku: "POT", name: "Pot", price: 3200 }] };
                const service = (name) => ({
                    value: name === "basket" ? { items: [], total: 0 } : catalogue,
                    get: async () => {},
                    call: async (command, body) => sent.push([name, command, body]),
                });
                const session = { service, services: async () => [{ name: "basket" }, { name: "catalogue" }] };
                const pane = { id: "pane", session, attempt: (action) => action(), send: async (name, data) => {
                    if (refusal) throw refusal;
                    sent.push([name, data]);
                } };
                const view = { stack: [{ flow: "any" }], screen: { name: "Any", data: \(data) }, events: \(events) };
                const place = document.createElement("main");
                place.append(...draw(view, pane).flat(2).filter(Boolean));
                document.body.append(place);
                const submit = () => (place.querySelector("form").requestSubmit(), new Promise((later) => setTimeout(later)));
                const texts = (selector) => [...place.querySelectorAll(selector)].map((e) => e.textContent);
                \(statements)
                """)
        }
    }

    @Test("forms have the order and the words of their author, and send no member that is empty")
    func authorsForm() async throws {
        let result = try await Self.drawing(
            """
            [{ name: "book", label: "Book a table", enabled: true, schema: {
                "x-order": ["when", "guests"], required: ["guests"], description: "We open at eight.", properties: {
                    allergies: { type: "string", title: "Anything we should know?" },
                    card: { required: ["number"], properties: { number: { type: "string" }, gift: { type: "boolean" } } },
                    guests: { type: "integer", title: "How many are you?" },
                    table: { type: ["integer", "null"] },
                    when: { type: "string", title: "When do you come?", description: "A day of this week" } } } },
             { name: "leave", label: "Not today", enabled: true, schema: {} }]
            """,
            """
            place.querySelector("[name=guests]").value = "2";
            await submit();
            done([texts("label"), texts("legend"), texts("button"), texts(".hint").filter(Boolean), sent]);
            """)
        #expect(
            result == [
                [
                    "When do you come?optional", "How many are you?", "Anything we should know?optional",
                    "Numberoptional",
                    "Giftoptional", "Tableoptional",
                ],
                ["Cardoptional"], ["Book a table", "Not today"], ["We open at eight.", "A day of this week"],
                [["book", ["guests": 2]]],
            ])
    }

    @Test("choices that come from data have the titles of the data, and are sent as they are")
    func options() async throws {
        let result = try await Self.drawing(
            """
            [{ name: "order", enabled: true, schema: { required: ["pizza"], properties: {
                pizza: { enum: [7, 9], "x-options": [{ value: 7, title: "Margherita" }, { value: 9, title: "Funghi" }] },
                toppings: { type: "array", items: { enum: ["o", "k"], "x-options": [
                    { value: "o", title: "Olives" }, { value: "k", title: "Capers" }] } } } } }]
            """,
            """
            const select = place.querySelector("select");
            select.value = [...select.options].find(({ text }) => text === "Funghi").value;
            await submit();
            place.querySelectorAll("[type=checkbox]")[1].click();
            await submit();
            done([texts("option"), texts("label"), texts("legend"), sent]);
            """)
        #expect(
            result == [
                ["Please choose", "Margherita", "Funghi"], ["Pizza", "Olives", "Capers"], ["Toppingsoptional"],
                [["order", ["pizza": 9]], ["order", ["pizza": 9, "toppings": ["k"]]]],
            ])
    }

    @Test("what is wrong stands beside its field, and a pattern is never the message")
    func complaints() async throws {
        let result = try await Self.drawing(
            """
            [{ name: "go", enabled: true, schema: { required: ["a", "b"], properties: {
                a: { type: "string", pattern: "^[A-Z]{2}$", examples: ["GB"] }, b: { type: "string" } } } },
             { name: "next", enabled: false, why: [{ pointer: "/order/address", detail: "must be there" }] },
             { name: "pay", enabled: false, why: [{ pointer: "/basket/items", detail: "Your basket is empty." }] }]
            """,
            """
            const pattern = "must match the pattern ^[A-Z]{2}$";
            refusal = { code: "invalid_input", errors: [
                { pointer: "/data/a", detail: pattern }, { pointer: "/data/b", detail: "Your own words." },
                { pointer: "/data/c/0", detail: pattern }] };
            for (const field of place.querySelectorAll("input")) field.value = "x";
            await submit();
            const described = place.querySelector("input").getAttribute("aria-describedby").split(" ");
            done([texts(".complaint"), described.map((id) => document.getElementById(id).textContent),
                texts(".hint[id^=pane-why]")]);
            """)
        let waits = [
            "Next is not possible yet: order/address must be there.", "Pay is not possible yet: Your basket is empty.",
        ]
        #expect(
            result == [
                ["does not have the expected form", "Your own words.", "c/0 does not have the expected form. "],
                ["does not have the expected form", "For example: GB"],
                JSONDocument(waits.map { JSONDocument($0) }),
            ])
    }

    @Test("a value that is only written has a password field, which is never filled in")
    func secretFields() async throws {
        let secrets =
            #"name: { type: "string" }, pin: { type: "integer", writeOnly: true }, "#
            + #"word: { type: "string", maxLength: 9000, writeOnly: true }, any: { writeOnly: true }"#
        let result = try await Self.drawing(
            "[{ name: 'go', enabled: true, schema: { required: ['name'], properties: { \(secrets) } } }]",
            data: #"{ before: { name: "Ada", pin: 7, word: "secret", any: 1 } }"#,
            """
            const fields = [...place.querySelectorAll("input")].map(({ name, type, value }) => [name, type, value]);
            place.querySelector("[name=pin]").value = "12";
            await submit();
            done([fields, sent]);
            """)
        #expect(
            result == [
                [
                    ["name", "text", "Ada"], ["pin", "password", ""], ["word", "password", ""],
                    ["any", "password", ""],
                ],
                [["go", ["name": "Ada", "pin": 12]]],
            ])
    }

    @Test("a value that is only written is not shown behind the desk")
    func secretsBehindTheDesk() async throws {
        try await withBrowser { browser in
            try await browser.openDemo("#first=login")
            try await browser.type("ada", into: "Name")
            try await browser.type("analytical", into: "Password")
            try await browser.click("Continue")
            try await browser.wait(forScreen: "One moment")
            let request = try await browser.evaluate("document.querySelector('#first [data-part=request]').textContent")
            #expect(request.string?.contains(#""name": "ada""#) == true)
            #expect(request.string?.contains(#""password": "•••""#) == true)
            let everywhere =
                "document.querySelector('main').outerHTML + JSON.stringify([history.state, { ...localStorage }])"
            #expect(try await browser.evaluate("(\(everywhere)).includes('analytical')") == false)
        }
    }

    @Test("the word that a step has for the person is shown as a status, and once")
    func message() async throws {
        try await withBrowser { browser in
            try await browser.openDemo()
            try await browser.run(
                """
                const { fetch } = window;
                window.fetch = async (address, init) => {
                    const response = await fetch(address, init);
                    if (!init.body?.includes('"sign_in"')) return response;
                    return Response.json({ ...await response.json(), message: "Welcome, Ada." }, response);
                };
                done(true);
                """)
            let said = "document.querySelector('#first [role=status][data-part=said]').textContent"
            #expect(try await browser.evaluate(said) == "")
            try await Self.signIn("Ada", browser)
            #expect(try await browser.evaluate(said) == "Welcome, Ada.")
            // A screen reader would read a text again that is set again.
            try await browser.run(
                """
                window.changes = 0;
                const place = document.querySelector("#first [data-part=said]");
                new MutationObserver((all) => (changes += all.length)).observe(place, { childList: true, characterData: true });
                const language = document.getElementById("language");
                language.dispatchEvent(new Event("change"));
                done(true);
                """)
            // Read again without it: it stays with its step.
            let token = try #require(try await browser.evaluate("localStorage.getItem('concierge-demo-first')").string)
            try await browser.app.client().with(token: token).patch(
                "/v1/sessions/current/services/profile", #"{"name":"Grace"}"#)
            try await browser.wait(for: "document.querySelector('#first .lead').textContent.includes('Grace')")
            #expect(try await browser.evaluate(said) == "Welcome, Ada.")
            #expect(try await browser.evaluate("changes") == 0)
            try await browser.click("Next")
            try await browser.wait(forScreen: "The second of three pages")
            #expect(try await browser.evaluate(said) == "")
        }
    }

    @Test("a basket is shown with its total, and changed by its commands alone")
    func basket() async throws {
        let result = try await Self.drawing(
            "[]", data: #"{ basket: { items: [{ sku: "TEA", name: "Tea", price: 450, quantity: 2 }], total: 900 } }"#,
            """
            const { fillBasket } = await import("/demo/basket.js");
            const click = (text) => [...place.querySelectorAll("button")].find((e) => e.textContent === text).click();
            click("Remove");
            await fillBasket(session);
            done([texts("tr"), sent]);
            """)
        #expect(
            result == [
                ["2 × Tea€9.00Remove", "Total€9.00"],
                [
                    ["basket", "remove", ["sku": "TEA"]], ["basket", "add", ["sku": "TEA"]],
                    ["basket", "add", ["sku": "POT"]],
                ],
            ])
    }
}
