import JSONDocument
import Support
import Testing

@Suite("clients/js/concierge.js in Chromium", .serialized)
struct ModuleTests {
    /// Runs statements on a page of the server without a policy, with `Session` and a session in `storage` at hand.
    @discardableResult
    private static func run(_ statements: String, in browser: Browser) async throws -> JSONDocument {
        try await browser.run(
            """
            const { Session, Problem } = await import("/demo/concierge.js");
            const once = (target, type) => new Promise((resolve) => target.addEventListener(type, resolve, { once: true }));
            const session = await Session.open({ storage: localStorage });
            \(statements)
            """)
    }

    @Test("is one module of less than 300 lines; with the demo and its styles it has at most 100 kB")
    func size() throws {
        let module = try ShippedFiles.text("clients/js/concierge.js")
        #expect(module.split(separator: "\n", omittingEmptySubsequences: false).count - 1 < 300)
        #expect(!module.contains("import "))
        let files = try ShippedFiles.repository.names(in: "demo").map { try ShippedFiles.text("demo/\($0)").utf8.count }
        #expect(files.count > 5)
        #expect(files.reduce(module.utf8.count, +) <= 100_000)
    }

    @Test("a session is resumed from the storage, its end is an event, and a dead token makes a new one")
    func sessions() async throws {
        try await withBrowser(expecting: ["favicon.ico", "401"]) { browser in
            try await browser.open("\(browser.origin)/version")
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
            try await browser.open("\(browser.origin)/version")
            let result = try await Self.run(
                """
                const other = new Session({ token: session.token });
                const both = [session.service("basket"), other.service("basket")];
                const add = (sku) => (draft) => void draft.items.push({ sku, quantity: 1 });
                await Promise.all([1, 2, 3, 4].flatMap((n) => both.map((basket, i) => basket.update(add(`SKU-${i}${n}`)))));
                done((await both[0].get()).items.map(({ sku }) => sku).sort());
                """, in: browser)
            #expect(result.elements?.count == 8)
            #expect(Set(result.elements?.compactMap(\.string) ?? []).count == 8)
        }
    }

    @Test("an event is taken only from what was seen, and a journey that is gone becomes null")
    func journeys() async throws {
        try await withBrowser(expecting: ["favicon.ico", "412", "404"]) { browser in
            try await browser.open("\(browser.origin)/version")
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
            try await browser.open("\(browser.origin)/version")
            let result = try await Self.run(
                """
                const real = fetch;
                const paths = [];
                window.fetch = (address, init) => {
                    paths.push(address.split("/").at(-1) + (init.headers?.prefer ? " " + init.headers.prefer : ""));
                    if (\(!hasStream) && address.endsWith("/current/events")) return Promise.resolve(new Response("", { status: 404 }));
                    return real(address, init);
                };
                const profile = session.service("profile");
                await profile.get();
                const journey = await session.start("wizard");
                const stop = session.follow();
                if (\(hasStream)) await once(session, "change");
                else while (!paths.some((path) => path.endsWith(" wait=30"))) await new Promise((next) => setTimeout(next, 10));
                const other = new Session({ token: session.token });
                const changed = [once(profile, "change"), once(journey, "change")];
                await other.service("profile").patch({ name: "Ada" });
                await Promise.all(changed);
                const moved = once(journey, "change");
                await (await other.start("wizard", { resume: true })).send("next");
                await moved;
                stop();
                done([profile.value.name, journey.view.screen.id, paths.some((path) => path.endsWith(" wait=30"))]);
                """, in: browser)
            #expect(result == ["Ada", "page1", JSONDocument(!hasStream)])
        }
    }

    @Test("a server that cannot be reached is an event, and so is its return, after which nothing is missed")
    func offline() async throws {
        try await withBrowser(expecting: ["favicon.ico", "ERR_INTERNET_DISCONNECTED"]) { browser in
            try await browser.open("\(browser.origin)/version")
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

    @Test("concierge.d.ts has every member that an application can use, and fits the examples of docs/web.md")
    func types() async throws {
        let internals: Set<String> = [
            "constructor", "call", "mayChangeBy", "notice", "path", "query", "session", "show",
        ]
        var use = """
            import { Session, type Journey, type Service } from "./concierge.js";
            declare const server: string;

            """
        try await withBrowser(expecting: ["favicon.ico"]) { browser in
            try await browser.open("\(browser.origin)/version")
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
                for member in offered.sorted() where !(name != "Session" && member == "refresh") {
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
            try await browser.open("\(browser.origin)/version")
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
