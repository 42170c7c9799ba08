import JSONDocument
import Support
import Testing

@Suite("clients/js/concierge.js in Chromium", .serialized)
struct ModuleTests {
    /// Runs statements on a page of the server without a policy, with `Session` and a session in `storage` at hand.
    @discardableResult
    static func run(_ statements: String, in browser: Browser) async throws -> JSONDocument {
        try await browser.run(
            """
            const { Session, Problem } = await import("/demo/concierge.js");
            const once = (target, type) => new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));
            const session = await Session.open({ storage: localStorage });
            \(statements)
            """)
    }

    @Test("is one module of less than 400 lines; with the demo and its styles it has at most 100 kB")
    func size() throws {
        let module = try ShippedFiles.text("clients/js/concierge.js")
        #expect(module.split(separator: "\n", omittingEmptySubsequences: false).count - 1 < 400)
        #expect(!module.contains("import "))
        let files = try ShippedFiles.repository.names(in: "demo").map { try ShippedFiles.text("demo/\($0)").utf8.count }
        #expect(files.count > 5)
        #expect(files.reduce(module.utf8.count, +) <= 100_000)
    }

    @Test("a session is resumed from the storage, its end is an event, and a dead token makes a new one")
    func sessions() async throws {
        try await withBrowser(expecting: ["favicon.ico", "401"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const again = await Session.open({ storage: localStorage });
                const isSame = again.info.id === session.info.id;
                await session.end();
                const expired = once(again, "expired");
                const refusal = await again.refresh().catch((problem) => problem);
                await expired;
                const fresh = await Session.open({ storage: localStorage });
                done([isSame, refusal.status, refusal.code, again.isExpired, fresh.info.id !== session.info.id]);
                """, in: browser)
            #expect(result == [true, 401, "unauthenticated", true, true])
        }
    }

    @Test("no update is lost, whoever writes at once")
    func updates() async throws {
        try await withBrowser(expecting: ["favicon.ico", "412"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const other = new Session({ token: session.token });
                const both = [session.service("profile"), other.service("profile")];
                const add = (name) => (draft) => void (draft.attributes[name] = 1);
                await Promise.all([1, 2, 3, 4].flatMap((n) => both.map((profile, i) => profile.update(add(`note-${i}${n}`)))));
                done(Object.keys((await both[0].get()).attributes).sort());
                """, in: browser)
            #expect(result.elements?.count == 8)
            #expect(Set(result.elements?.compactMap(\.string) ?? []).count == 8)
        }
    }

    @Test("an event is taken only from what was seen, and a journey that is gone becomes null")
    func journeys() async throws {
        try await withBrowser(expecting: ["favicon.ico", "412", "404"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const journey = await session.start("wizard");
                const other = new Session({ token: session.token, schemas: true });
                await other.service("profile").patch({ name: "Grace" });
                const refusal = await journey.send("next").catch((problem) => problem);
                const shown = journey.view.screen.data.profile.name;
                await journey.send("next");
                const theirs = other.journey(journey.view.id);
                await theirs.get();
                const hasSchemas = theirs.view.events.every(({ schema }) => schema);
                const stop = session.follow();
                const gone = new Promise((resolve) => {
                    journey.addEventListener("change", () => journey.view === null && resolve(true));
                });
                await once(session, "change");
                await theirs.abandon();
                await gone;
                stop();
                done([refusal.status, shown, hasSchemas, theirs.view]);
                """, in: browser)
            #expect(result == [412, "Grace", true, nil])
        }
    }

    @Test("changes come by the stream, and by waiting where there is none", arguments: [true, false])
    func live(hasStream: Bool) async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const real = fetch;
                const paths = [];
                let [waiting, most] = [0, 0];
                window.fetch = (address, init) => {
                    paths.push(address.split("/").at(-1) + (init.headers?.prefer ? " " + init.headers.prefer : ""));
                    if (\(!hasStream) && init.method === "GET" && address.endsWith("/events")) return Promise.resolve(new Response("", { status: 404 }));
                    if (!init.headers?.prefer) return real(address, init);
                    most = Math.max(most, ++waiting);
                    return real(address, init).finally(() => waiting--);
                };
                const [profile] = ["profile", "quote", "user", "basket", "order"].map((name) => session.service(name));
                for (const name of ["profile", "quote", "user", "basket", "order"]) await session.service(name).get();
                const journey = await session.start("wizard");
                const stop = session.follow();
                if (\(hasStream)) await once(session, "change");
                else while (!paths.some((path) => path.endsWith(" wait=10"))) await new Promise((next) => setTimeout(next, 10));
                const other = new Session({ token: session.token });
                const changed = [once(profile, "change"), once(journey, "change")];
                await other.service("profile").patch({ name: "Ada" });
                await Promise.all(changed);
                const moved = once(journey, "change");
                const theirs = new Session({ token: session.token, storage: null });
                const second = await theirs.start("wizard", { resume: true });
                paths.length = 0;
                await second.send("next");
                await moved;
                stop();
                done([profile.value.name, journey.view.screen.id, most]);
                """, in: browser)
            // One request waits for all that is followed: a browser opens six connections to a server at most.
            #expect(result == ["Ada", "page1", hasStream ? 0 : 1])
        }
    }

    @Test("a server that cannot be reached is an event, and so is its return, after which nothing is missed")
    func offline() async throws {
        try await withBrowser(expecting: ["favicon.ico", "ERR_INTERNET_DISCONNECTED"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            try await Self.run(
                """
                const profile = session.service("profile");
                await profile.get();
                window.heard = [];
                for (const type of ["offline", "online"]) session.addEventListener(type, () => heard.push(type));
                Object.assign(window, { session, profile });
                session.follow();
                await once(session, "change");
                done(true);
                """, in: browser)
            let token = try #require(try await browser.evaluate("session.token").string)
            try await browser.goOffline(true)
            let refused = try await browser.run("done(await profile.get().catch(({ status, code }) => [status, code]))")
            #expect(refused == [0, "offline"])
            #expect(try await browser.evaluate("heard") == ["offline"])
            try await browser.app.client().with(token: token).patch(
                "/v1/sessions/current/services/profile", #"{"name":"Grace"}"#)
            try await browser.goOffline(false)
            try await browser.wait(for: "profile.value.name === 'Grace'")
            #expect(try await browser.evaluate("heard") == ["offline", "online"])
        }
    }

    @Test("an update does not overwrite what came while it was being made")
    func updateMeanwhile() async throws {
        try await withBrowser(expecting: ["favicon.ico", "412"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const profile = session.service("profile");
                await profile.patch({ attributes: { notes: [] } });
                session.follow();
                await once(session, "change");
                const other = await Session.open({ token: session.token });
                const add = (draft, note) => void draft.attributes.notes.push(note);
                let runs = 0;
                await profile.update(async (draft) => {
                    if (++runs === 1) {
                        const shown = once(profile, "change");
                        await other.service("profile").update((theirs) => add(theirs, "THEIRS"));
                        await shown;
                    }
                    add(draft, "OURS");
                });
                done([runs, profile.value.attributes.notes]);
                """, in: browser)
            #expect(result == [2, ["THEIRS", "OURS"]])
        }
    }

    @Test("a session stays with itself when another tab stores the token of another one, and leaves that there")
    func otherSession() async throws {
        try await withBrowser(expecting: ["favicon.ico", "404"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const [profile, expired] = [session.service("profile"), once(session, "expired")];
                await profile.patch({ name: "Ada" });
                const other = await Session.open();
                await other.service("profile").patch({ name: "Grace" });
                localStorage.setItem("concierge", other.token);
                const writing = profile.patch({ name: "Eve" }, profile.etag);
                const codes = (await Promise.allSettled([profile.get(), writing])).map(({ reason }) => reason?.code);
                await expired;
                const isKept = localStorage.getItem("concierge") === other.token;
                const { name } = await other.service("profile").get();
                localStorage.clear();
                const both = await Promise.all([1, 2].map(() => Session.open({ storage: localStorage })));
                done([codes, name, profile.value.name, isKept, both[0].info.id === both[1].info.id]);
                """, in: browser)
            #expect(result == [["session_not_found", "session_not_found"], "Grace", "Ada", true, true])
        }
    }

    @Test("a sign-in does not end the session before the new token is there, and a new token resumes it in any case")
    func signIn() async throws {
        try await withBrowser(expecting: ["favicon.ico", "401"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            try await Self.run(
                """
                const [user, profile] = [session.service("user"), session.service("profile")];
                await Promise.all([user.get(), profile.get()]);
                window.heard = [];
                for (const type of ["change", "expired"]) session.addEventListener(type, ({ detail }) => heard.push(detail?.reason ?? type));
                session.follow();
                await once(session, "change");
                Object.assign(window, { session, user, profile });
                done(true);
                """, in: browser)
            let id = try #require(try await browser.evaluate("session.info.id").string)
            let token = try await browser.app.signIn("ada", to: id)
            try await browser.wait(for: "heard.includes('token_replaced')")
            #expect(try await browser.evaluate("[session.isExpired, heard.includes('expired')]") == [false, false])
            // A request of the app with the old token ends it for now.
            let refused = try await browser.run("done(await session.refresh().catch(({ status }) => status))")
            #expect(refused == 401)
            #expect(try await browser.evaluate("[session.isExpired, heard.includes('expired')]") == [true, true])
            try await browser.evaluate("(session.token = arguments[0])", JSONDocument(token))
            try await browser.wait(for: "user.value.id === 'ada'")
            try await browser.app.client().with(token: token).patch(
                "/v1/sessions/current/services/profile", #"{"name":"Ada"}"#)
            try await browser.wait(for: "profile.value.name === 'Ada'")
            #expect(try await browser.evaluate("session.isExpired") == false)
        }
    }

    @Test("a sign-in from a flow is exchanged by one of the tabs, and the other goes on with it")
    func signInFromFlow() async throws {
        try await withBrowser(expecting: ["favicon.ico", "401"]) { browser in
            let page = "\(browser.origin)/demo/concierge.js"
            try await browser.open(page)
            try await Self.run(
                """
                const journey = await session.start("login");
                await journey.send("submit", { name: "ada", password: "right" });
                window.expired = 0;
                session.addEventListener("expired", () => expired++);
                await session.user.get();
                session.follow();
                await once(session, "change");
                Object.assign(window, { session, journey, old: session.token });
                done(true);
                """, in: browser)
            let first = try await browser.tab
            try await browser.openTab()
            try await browser.open(page)
            // The second tab has sent nothing, and knows the verifier all the same.
            try await Self.run("Object.assign(window, { session, old: session.token }); done(true)", in: browser)
            let signIn = #"{"outcome":"ok","sign_in":{"user_id":"ada"}}"#
            #expect(try await browser.app.endTask("check-password", signIn) == 204)
            let second = try await browser.run(
                "await session.refresh(); done([session.info.user_id, session.token !== old])")
            #expect(second == ["ada", true])
            try await browser.show(tab: first)
            try await browser.wait(for: "journey.view.screen.id === 'sending_code'")
            let now = try await browser.run(
                "done([(await session.refresh()).info.user_id, session.token !== old, session.isExpired, expired])")
            #expect(now == ["ada", true, false, 0])
            try await browser.wait(for: "session.user.value.id === 'ada'")
            #expect(try await browser.evaluate("localStorage.getItem('concierge-verifier') === null") == true)
        }
    }

    @Test(
        "a page that was loaded anew while a back end was at work has the new token, too",
        arguments: ["bearer", "cookie"])
    func reloaded(mode: String) async throws {
        try await withBrowser(expecting: ["favicon.ico", "401"]) {
            $0.cookie.secure = true
        } _: { browser in
            let open = """
                const { Session } = await import("/demo/concierge.js");
                const session = await Session.open({ mode: "\(mode)", storage: localStorage });
                """
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let id = try await browser.run(
                """
                \(open)
                const journey = await session.start("login");
                await journey.send("submit", { name: "ada", password: "right" });
                done(session.info.id);
                """)
            try await browser.open("about:blank")
            let signIn = #"{"outcome":"ok","sign_in":{"user_id":"ada"}}"#
            #expect(try await browser.app.endTask("check-password", signIn) == 204)
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let now = try await browser.run("\(open) done([session.info.id, session.info.user_id])")
            #expect(now == [id, "ada"])
        }
    }

    @Test("a stream that a proxy holds back, with its head or without, is given up for a while")
    func heldBack() async throws {
        for hasHead in [true, false] {
            try await withBrowser(expecting: ["favicon.ico"]) { browser in
                try await browser.open("\(browser.origin)/demo/concierge.js")
                let result = try await Self.run(
                    """
                    const [real, later] = [fetch, setTimeout];
                    // Half a minute is over in a third of a second.
                    window.setTimeout = (work, duration) => later(work, duration / 100);
                    let [streams, waits] = [0, 0];
                    window.fetch = (address, init) => {
                        if (init.headers?.prefer) waits++;
                        if (!address.endsWith("/events") || ++streams > 1) return real(address, init);
                        const gone = new Promise((_, reject) => init.signal.onabort = () => reject(init.signal.reason));
                        const start = (controller) => gone.catch((reason) => controller.error(reason));
                        return \(hasHead) ? Promise.resolve(new Response(new ReadableStream({ start }))) : gone;
                    };
                    const profile = session.service("profile");
                    await profile.get();
                    session.follow();
                    const turn = () => new Promise((next) => later(next, 10));
                    while (!waits) await turn();
                    const changed = once(profile, "change");
                    await (await Session.open({ token: session.token })).service("profile").patch({ name: "Ada" });
                    await changed;
                    done(streams);
                    """, in: browser)
                #expect(result == 1)
            }
        }
    }

    @Test("an older answer is not shown over a newer one, and no change is missed")
    func order() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const real = fetch;
                let [hold, refusals, asked] = [null, 0, []];
                window.fetch = async (address, init) => {
                    const isRead = init.method === "GET" && address.endsWith("/profile");
                    if (isRead && refusals-- > 0) return new Response("", { status: 503 });
                    const response = await real(address, init);
                    if (isRead && hold) await [hold, (hold = null)][0];
                    return response;
                };
                const other = (await Session.open({ token: session.token })).service("profile");
                const until = async (name) => {
                    while (profile.value?.name !== name) await once(profile, "change");
                };
                const profile = session.service("profile");
                session.follow();
                await once(session, "change");
                // The answer to the first read is late: a change comes before it.
                let release;
                hold = new Promise((resolve) => (release = resolve));
                const first = profile.get();
                while (hold) await new Promise((next) => setTimeout(next, 1));
                const told = once(session, "change");
                await other.patch({ name: "Ada" });
                await told;
                release();
                await first;
                await until("Ada");
                // A late answer to a read is older than what a write has shown.
                await other.patch({ name: "Grace" });
                await until("Grace");
                hold = new Promise((resolve) => (release = resolve));
                const late = profile.get({ headers: { "if-none-match": '"x"' } });
                while (hold) await new Promise((next) => setTimeout(next, 1));
                await profile.patch({ name: "Alan" });
                release();
                await late;
                const newest = profile.value.name;
                // A server that is busy for a moment.
                refusals = 4;
                await other.patch({ name: "Barbara" });
                await until("Barbara");
                // A tab that follows later is told what changed since its reads.
                const tab = await Session.open({ token: session.token });
                const theirs = tab.service("profile");
                await theirs.get();
                await other.patch({ name: "Emmy" });
                await until("Emmy");
                const seen = once(theirs, "change");
                tab.follow();
                await seen;
                done([newest, theirs.value.name]);
                """, in: browser)
            #expect(result == ["Alan", "Emmy"])
        }
    }

    @Test("a POST is repeated with its key until its answer is there, and is done once")
    func retries() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const [real, later] = [fetch, setTimeout];
                const [journey, pauses, keys] = [await session.start("wizard"), [], new Set()];
                const busy = (status, code, seconds) => {
                    const headers = { "content-type": "application/problem+json", "retry-after": seconds };
                    return new Response(JSON.stringify({ status, code }), { status, headers });
                };
                const cut = new ReadableStream({ pull: (controller) => controller.error(new TypeError("cut")) });
                const attempts = [
                    (response) => new Response(cut, { headers: response.headers }),
                    ...[1, 2, 3, 4].map(() => () => busy(409, "request_in_progress", 1)),
                    (response) => response,
                ];
                window.setTimeout = (work, duration) => (pauses.push(duration), later(work, 0));
                window.fetch = async (address, init) => {
                    if (init.method !== "POST") return real(address, init);
                    keys.add(init.headers["idempotency-key"]);
                    return attempts.shift()(await real(address, init));
                };
                await journey.send("sign_in", { name: "Ada" });
                const took = [journey.view.step, journey.view.screen.id, keys.size, pauses];
                attempts.push(...[1, 2, 3].map(() => () => busy(503, "store_unreachable", 100)));
                pauses.length = 0;
                const refusal = await journey.send("next").catch((problem) => problem);
                done([...took.slice(0, 3), pauses, refusal.code, refusal instanceof Problem]);
                """, in: browser)
            #expect(result == [2, "page1", 1, [10000, 10000], "store_unreachable", true])
        }
    }

    @Test("no step costs a second request, and a service of a journey is followed")
    func requests() async throws {
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let result = try await Self.run(
                """
                const asked = [];
                const mine = await Session.open({ token: session.token, schemas: true });
                mine.addEventListener("exchange", ({ detail }) => asked.push(detail.method));
                const journey = await mine.start("wizard");
                await journey.send("sign_in", { name: "Ada" });
                await journey.navigate("page2");
                await journey.startOver();
                const hasSchemas = journey.view.events.every(({ schema }) => schema);
                const before = asked.join();
                const quote = journey.service("quote");
                await quote.get();
                mine.follow();
                await once(mine, "change");
                const changed = once(quote, "change");
                await session.service("quote").patch({ author: "Ada" });
                await changed;
                // Each step of any journey writes `coordinator`, and a journey that is over shows no services.
                const isConcerned = (service) => Boolean(journey.mayChangeBy({ service }));
                const concerns = ["coordinator", "profile"].map(isConcerned);
                await journey.send("cancel");
                concerns.push(isConcerned("profile"));
                done([before, hasSchemas, quote.value.author, quote === journey.service("quote"), concerns]);
                """, in: browser)
            #expect(result == ["POST,POST,POST,PUT", true, "Ada", true, [false, true, false]])
        }
    }

    @Test("concierge.d.ts has every member that an application can use, and fits the examples of docs/web.md")
    func types() async throws {
        let internals: Set<String> = [
            "constructor", "isFollowed", "item", "mayChangeBy", "notice", "path", "query", "read", "session", "show",
            "write",
        ]
        var use = """
            import { Session, type Journey, type Service } from "./concierge.js";
            declare const server: string;

            """
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            for (name, instance) in [
                ("Session", "session"), ("Service", "session.service('quote')"), ("Journey", "session.journey('main')"),
            ] {
                let members = try await Self.run(
                    """
                    const names = new Set();
                    for (let part = \(instance); part !== EventTarget.prototype; part = Object.getPrototypeOf(part)) {
                        Object.getOwnPropertyNames(part).forEach((name) => names.add(name));
                    }
                    done([...names]);
                    """, in: browser)
                let offered = Set(members.elements?.compactMap(\.string) ?? []).subtracting(internals)
                for member in offered.sorted() {
                    use += "type \(name)_\(member) = \(name)[\"\(member)\"];\n"
                }
                #expect(offered.count > 5)
            }
        }
        // What was read is there, which only people know.
        use += try Self.examples().joined(separator: "\n").replacing(#/\.(?:value|view|screen)(?=\.)/#) {
            "\($0.output)!"
        }
        let files = [
            "use.ts": use, "concierge.d.ts": try ShippedFiles.text("clients/js/concierge.d.ts"), "concierge.js": "",
        ]
        try await withFolder(files) { _, folder in
            let compile = """
                $ tsc --strict --noEmit --target ES2022 --module ES2022 --moduleResolution node --lib ES2022,DOM use.ts || :
                """
            let outputs = try await ShellCommand.outputs(
                of: ShellCommand.all(in: compile), in: folder, addresses: [:])
            #expect(outputs == [""])
        }
    }

    private static func examples() throws -> [Substring] {
        try ShippedFiles.text("docs/web.md").matches(of: #/(?s)```js\n(.*?)```/#).map(\.output.1)
    }

    // MARK: docs/web.md

    @Test("docs/web.md shows what its lines give")
    func documentation() async throws {
        let blocks = try Self.examples()
        #expect(blocks.count > 5)
        // `expression; // → value` becomes a comparison.
        let script = blocks.joined(separator: "\n").split(separator: "\n").map { line -> String in
            guard let match = line.wholeMatch(of: #/(.*); // → (.*)/#) else { return String(line) }
            return "same(\(match.output.1), \(match.output.2), \(JSONDocument(String(line))));"
        }
        try await withBrowser(expecting: ["favicon.ico", "400", "401", "412"]) { browser in
            try await browser.open("\(browser.origin)/demo/concierge.js")
            let wrong = try await browser.run(
                """
                const { Session } = await import("/demo/concierge.js");
                const server = location.origin;
                const wrong = [];
                let count = 0;
                const same = (one, other, line) => {
                    count += 1;
                    if (JSON.stringify(one) !== JSON.stringify(other)) wrong.push(`${line} gives ${JSON.stringify(one)}`);
                };
                \(script.joined(separator: "\n"))
                done([count, wrong]);
                """)
            #expect(wrong.elements?.last == [])
            #expect((wrong.elements?.first?.int ?? 0) > 10)
        }
    }
}
