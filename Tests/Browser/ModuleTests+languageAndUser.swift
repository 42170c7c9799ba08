import JSONDocument
import Support
import Testing

/// What the module knows of the person: language, user, and what is said of mistakes.
extension ModuleTests {
    @Test("every request names the language, and what was read is read again when it is another one")
    func language() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const [real, told] = [fetch, []];
                window.fetch = (address, init) => (told.push(init.headers["accept-language"]), real(address, init));
                const mine = await Session.open({ token: session.token, language: "de" });
                const journey = await mine.start("login");
                const titles = [journey.view.screen.title];
                mine.follow();
                await once(mine, "change");
                const isTold = told.length > 2 && told.every((language) => language === "de");
                const changed = once(journey, "change");
                mine.language = "en";
                await changed;
                done([isTold, ...titles, journey.view.screen.title, mine.language, session.language]);
                """, in: browser)
            #expect(result == [true, "Bitte melden Sie sich an", "Please sign in", "en", nil])
        }
    }

    @Test("an answer in the former language is not shown when the language has changed meanwhile")
    func languageMeanwhile() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const [real, titles] = [fetch, []];
                // As if the journey had changed, and the language while the answer was on its way.
                for (const [method, act] of [
                    ["GET", (journey) => journey.get()], ["PUT", (journey) => journey.startOver()],
                ]) {
                    const mine = await Session.open({ token: session.token, language: "de" });
                    const journey = await mine.start("login", { resume: true });
                    window.fetch = async (address, init) => {
                        window.fetch = real;
                        await real(address, init);
                        mine.language = "en";
                        const headers = { "content-type": "application/json", etag: `"${method}"` };
                        return new Response(JSON.stringify({ ...journey.view, screen: { title: "late" } }), { headers });
                    };
                    await act(journey);
                    titles.push(journey.view.screen.title);
                }
                const other = await Session.open({ token: session.token, language: "de" });
                window.fetch = async (address, init) => {
                    window.fetch = real;
                    const answer = await real(address, init);
                    other.language = "en";
                    return answer;
                };
                titles.push((await other.start("login")).view.screen.title);
                done(titles);
                """, in: browser)
            #expect(result == ["Please sign in", "Please sign in", "Please sign in"])
        }
    }

    @Test("who has signed in is told, by the stream and by waiting", arguments: [true, false])
    func user(hasStream: Bool) async throws {
        try await withBrowser(expecting: ["favicon.ico", "401"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            try await Self.run(
                """
                const real = fetch;
                window.fetch = (address, init) => {
                    const isStream = init.method === "GET" && address.endsWith("/events");
                    return \(!hasStream) && isStream ? Promise.resolve(new Response("", { status: 404 })) : real(address, init);
                };
                window.heard = [];
                session.user.addEventListener("change", () => heard.push(session.user.value.id));
                session.follow();
                Object.assign(window, { session });
                done(true);
                """, in: browser)
            try await browser.wait(for: "heard.length === 1")
            let id = try #require(try await browser.evaluate("session.info.id").string)
            let token = try await browser.app.signIn("ada", to: id, claims: #"{"name":"Ada"}"#)
            try await browser.evaluate("(session.token = arguments[0])", JSONDocument(token))
            try await browser.wait(for: "session.user.value.claims.name === 'Ada'")
            #expect(try await browser.app.admin().send("DELETE", "/v1/sessions/\(id)/user").status == 204)
            try await browser.wait(for: "heard.length === 3")
            #expect(try await browser.evaluate("heard") == [nil, "ada", nil])
        }
    }

    @Test("a problem's message ends with the first mistake and its place")
    func message() async throws {
        try await withBrowser(expecting: ["favicon.ico", "400", "404"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const refused = await session.service("profile").put({ name: 7, email: 7 }).catch((problem) => problem);
                const missing = await session.journey("none").get().catch((problem) => problem);
                done([refused.message, missing.message === missing.answer.body.detail]);
                """, in: browser)
            #expect(result == ["The input has mistakes: /email must be a string or null", true])
        }
    }

    @Test("a problem of a gateway is a Problem, whatever its JSON is")
    func gateway() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const bodies = [
                    { errors: { name: ["x"] } }, { errors: null, detail: null }, { errors: [null, {}], detail: { a: 1 } },
                    { errors: "abc", detail: "No." }, "text", null,
                ];
                const problems = bodies.map((body) => new Problem({ status: 400, body }));
                done(problems.map(({ message, errors }) => [message, ...errors]));
                """, in: browser)
            let unknown: JSONDocument = ["The server answered 400."]
            #expect(result == [unknown, unknown, unknown, ["No."], unknown, unknown])
        }
    }

    @Test("back sends any data but the browser's event, which it is given as a listener")
    func back() async throws {
        try await withBrowser(expecting: ["favicon.ico", "409"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const journey = await session.start("wizard");
                const sent = [];
                session.addEventListener("exchange", ({ detail }) => detail.method === "POST" && sent.push(detail.body.data ?? null));
                class Draft { note = "x"; }
                const bare = Object.assign(Object.create(null), { note: "y" });
                for (const data of [new Draft(), bare, { note: "z" }, new MouseEvent("click"), undefined]) {
                    await journey.back(data).catch(() => {});
                }
                done(sent);
                """, in: browser)
            #expect(result == [["note": "x"], ["note": "y"], ["note": "z"], nil, nil])
        }
    }
}
