import Configuration
import Glibc
import HTTPTestClient
import JSONDocument
import Support
import Testing

/// `concierge session`, `service`, `journey`, `task` and `user`.
@Suite("Commands for operators")
struct OperatorCommandTests {
    private static func environment(_ app: RunningApplication) -> [String: String] {
        ["CONCIERGE_URL": "http://127.0.0.1:\(app.adminPort)"]
    }

    @discardableResult
    private static func run(_ words: [String], on app: RunningApplication) async throws -> ProgramProcess.Result {
        try await ProgramProcess.run(words, environment: environment(app))
    }

    /// What a command has written, one document from each line.
    private static func items(_ words: [String], on app: RunningApplication) async throws -> [JSONDocument] {
        let result = try await run(words, on: app)
        #expect(result.status == 0, "\(words) \(result.complaints)")
        return try result.output.split(separator: "\n").map { try JSONDocument(parsing: String($0)) }
    }

    /// Runs a command on a terminal where a person types a line.
    private static func onTerminal(
        _ words: [String], _ environment: [String: String], typing line: String = ""
    ) async throws -> (text: String, status: Int32?) {
        let command = ([try ProgramProcess.executable()] + words).map { "'\($0)'" }.joined(separator: " ")
        let result = try await ProgramProcess(
            command: ["/bin/bash", "-c", #"printf '%s\n' "$LINE" | script -qec "$COMMAND" /dev/null"#],
            environment: environment.merging(["LINE": line, "COMMAND": command, "PATH": "/usr/bin:/bin"]) { $1 }
        ).result()
        return (result.output.replacing("\r\n", with: "\n"), result.status)
    }

    @Test("a held task is found, ended with another result, and its journey goes on")
    func held() async throws {
        try await withApplication(flows: [HeldTaskTests.flow]) { app in
            let session = try await app.newSession()
            let client = app.client().with(token: try await app.signIn("ada", to: session.id))
            let own = try await client.start("order")
            try await client.event("pay", on: own)
            let task = try #require(try await app.admin().claim("charge").first)
            let odd = #"{"outcome":"paid","output":{"reference":7}}"#
            #expect(try await app.admin().post("result", of: task, odd).status == 202)

            #expect(try await Self.items(["session", "list", "--user", "ada"], on: app).count == 1)
            let found = try await Self.items(
                ["journey", "list", "--user", "ada", "--status", "held", "--flow", "order"], on: app)
            let journey = "\(session.id)/\(try #require(found.first?[string: "journey"]))"
            #expect(found.first?[string: "state"] == "paying")
            let listed = try await Self.items(["journey", "list", session.id], on: app)
            #expect(listed.map { $0[string: "flow"] } == ["order"])
            let shown = try #require(try await Self.items(["journey", "show", journey], on: app).first)
            let id = try #require(shown[member: "tasks"]?[0]?[string: "id"])
            let held = try await Self.items(["task", "list", "--status", "held", "--session", session.id], on: app)
            #expect(held.map { $0[string: "id"] } == [id])
            #expect(try await Self.items(["task", "show", id], on: app) == held)

            let retried = try await Self.run(["task", "retry", id], on: app)
            #expect(retried.status == 1)
            #expect(retried.complaints.hasPrefix("concierge: the result is held: "), "\(retried.complaints)")
            #expect(retried.complaints.contains("/quote/text") && retried.complaints.hasSuffix("(invalid_state)\n"))
            let refused = try await Self.run(
                ["task", "finish", id, "--outcome", "payed", "--output", "{}", "--yes"], on: app)
            #expect(refused.status == 1 || refused.status == 2, "\(refused)")
            #expect(try await client.get(own).screen == "paying")
            let right = ["task", "finish", id, "--outcome", "paid", "--output", #"{"reference":"r7"}"#]
            #expect(try await Self.run(right, on: app).status == 2)
            let finished = try await Self.run(right + ["--yes"], on: app)
            #expect(finished.status == 0 && finished.output.isEmpty, "\(finished)")
            #expect(try await client.get(own).screen == "thanks")

            let gone = try await Self.run(["task", "show", id], on: app)
            #expect(gone.status == 1 && gone.complaints.contains("is not in the list"), "\(gone.complaints)")
            let steps = try await Self.items(["journey", "history", journey], on: app)
            #expect(steps.map { $0[string: "who"] } == ["client", "client", "backend"])
            let counted = try await Self.items(["journey", "count"], on: app)
            #expect(
                counted.map { [$0[string: "flow"], $0[string: "state"]] } == [
                    ["order", "basket"], ["order", "thanks"],
                ])
        }
    }

    @Test("a task fails for good, and one that waits is made due")
    func failing() async throws {
        try await withApplication(flows: [HeldTaskTests.flow]) { app in
            let client = try await app.newSession().client
            let own = try await client.start("order")
            try await client.event("pay", on: own)
            let task = try #require(try await app.admin().claim("charge").first)
            let wait = #"{"reason":"no line","retry_after":"1h"}"#
            #expect(try await app.admin().post("failure", of: task, wait).status == 204)
            #expect(try await app.admin().claim("charge").isEmpty)
            let id = try #require(task[string: "id"])
            #expect(try await Self.run(["task", "retry", id], on: app).status == 0)
            #expect(try await app.admin().claim("charge").count == 1)
            let failed = try await Self.run(["task", "fail", id, "--reason", "no \"account\"", "--yes"], on: app)
            #expect(failed.status == 0, "\(failed)")
            #expect(try await client.get(own).screen == "sorry")
            let again = try await Self.run(["task", "retry", id], on: app)
            #expect(again.status == 1 && again.complaints.contains("(task_over)"), "\(again)")
        }
    }

    @Test("a journey is moved, started over and ended; a refusal says the screen and why")
    func journeys() async throws {
        let flow = """
            {"id": "desk", "version": 1, "initial": "menu", "input": {"type": "object"},
             "states": {"menu": {"on": {"order": {"target": "table"}}},
                        "table": {"on": {"send": {"target": "bill", "guard": {"has": "/profile/email"}}}},
                        "bill": {"on": {"close": {"target": "end"}}}, "end": {"type": "final"}}}
            """
        try await withApplication(flows: [flow]) { app in
            let (client, id, _) = try await app.newSession()
            let own = try await client.start("desk")
            let journey = "\(id)/\(own.split(separator: "/").last ?? "")"
            let refused = try await Self.run(["journey", "go", journey, "bill"], on: app)
            #expect(refused.status == 1 && refused.output.isEmpty)
            #expect(refused.complaints.contains("\"bill\"") && refused.complaints.contains("/profile/email"))
            #expect(refused.complaints.hasSuffix(" (unreachable)\n"), "\(refused.complaints)")
            let moved = try await Self.items(["journey", "go", journey, "table"], on: app)
            #expect(moved.first?[member: "path"] == ["table"])
            #expect(try await client.get(own).screen == "table")
            #expect(try await Self.run(["journey", "start-over", journey], on: app).status == 2)
            #expect(try await client.get(own).screen == "table")
            let restart = ["journey", "start-over", journey, "--yes", "--flow", "desk", "--input", #"{"n":1}"#]
            #expect(try await Self.items(restart, on: app).first?[string: "status"] == "active")
            #expect(try await client.get(own).screen == "menu")
            let over = ["journey", "start-over", journey, "--yes"]
            #expect(try await Self.items(over, on: app).first?[string: "flow"] == "desk")
            #expect(try await Self.run(["journey", "end", journey, "--yes"], on: app).status == 0)
            #expect(try await client.get(own).status == 404)
        }
    }

    @Test("documents of sessions and journeys are shown, replaced, changed, cleared and removed")
    func services() async throws {
        try await withFolder(["quote.json": #"{"text":"From a file","author":"Ada"}"#]) { _, folder in
            try await withApplication(
                services: [try ServiceFile(name: "basket", default: ["n": 0], concurrency: .firstWrite)],
                flows: [
                    #"{"id":"t","version":1,"owns":["basket"],"initial":"a","states":{"a":{"on":{"go":{"target":"z"}}},"z":{"type":"final"}}}"#
                ]
            ) { app in
                let (client, id, _) = try await app.newSession()
                let journey = try await client.start("t").split(separator: "/").last.map(String.init) ?? ""
                let listed = try await Self.items(["service", "list", id], on: app)
                #expect(listed.compactMap { $0[string: "name"] }.contains("basket"))
                #expect(
                    try await Self.items(["service", "set", id, "quote", "@\(folder)/quote.json"], on: app)
                        == [["text": "From a file", "author": "Ada"]])
                #expect(try await client.get(Paths.quote)[member: "text"] == "From a file")
                let patched = try await Self.items(["service", "patch", id, "quote", #"{"author":"Eve"}"#], on: app)
                #expect(patched == [["text": "From a file", "author": "Eve"]])
                let wrong = try await Self.run(["service", "patch", id, "quote", #"{"author":7}"#], on: app)
                #expect(wrong.status == 1 && wrong.complaints.contains("/author"), "\(wrong.complaints)")
                // Of what only the journey has.
                let set = ["service", "set", id, "basket", #"{"n":1}"#, "--journey", journey]
                let unconditional = try await Self.run(set, on: app)
                #expect(unconditional.status == 1 && unconditional.complaints.contains("precondition_required"))
                #expect(try await Self.items(set + ["--if-match", "*"], on: app) == [["n": 1]])
                #expect(
                    try await Self.run(set + ["--if-match", "\"99\""], on: app).complaints.contains(
                        "precondition_failed"))
                #expect(
                    try await Self.items(["service", "show", id, "basket", "--journey", journey], on: app) == [["n": 1]]
                )
                #expect(try await Self.items(["service", "show", id, "basket"], on: app) == [["n": 0]])
                for action in ["clear", "remove"] {
                    #expect(try await Self.run(["service", action, id, "quote"], on: app).status == 2)
                    #expect(try await client.get(Paths.quote)[member: "author"] == "Eve")
                    #expect(try await Self.run(["service", action, id, "quote", "--yes"], on: app).status == 0)
                    #expect(try await client.get(Paths.quote)[member: "author"] != "Eve")
                    try await Self.run(["service", "patch", id, "quote", #"{"author":"Eve"}"#], on: app)
                }
                #expect(try await Self.run(["session", "end", id], on: app).status == 2)
                #expect(try await client.get(Paths.current).status == 200)
                #expect(try await Self.run(["session", "end", id, "--yes"], on: app).status == 0)
                #expect(try await client.get(Paths.current).status == 401)
            }
        }
    }

    @Test("ids of users may have any characters")
    func users() async throws {
        try await withApplication { app in
            let user = "https://idp.example/7?a=b&c=d/../é"
            for _ in 0..<2 {
                let id = try await app.newSession().id
                let body = JSONDocument(members: [("user_id", JSONDocument(user))])
                #expect(try await app.admin().send("PUT", "/v1/sessions/\(id)/user", json: "\(body)").status == 200)
            }
            _ = try await app.newSession()
            #expect(try await Self.items(["session", "list", "--user", user], on: app).count == 2)
            let shown = try await Self.items(["user", "show", user], on: app)
            #expect(shown.first?[string: "user_id"] == user && shown.first?[member: "sessions"]?.count == 2)
            #expect(try await Self.run(["user", "end-sessions", user], on: app).status == 2)
            #expect(try await Self.items(["user", "end-sessions", user, "--yes"], on: app) == [["count": 2]])
            #expect(try await Self.items(["user", "erase", user, "--yes"], on: app).first?[member: "sessions"] == 0)
            #expect(try await Self.items(["session", "list"], on: app).count == 1)
        }
    }

    @Test("a list goes on from page to page, to its end or to --limit")
    func pages() async throws {
        try await withApplication { app in
            let client = app.client()
            for _ in 0..<230 { #expect(try await client.send("POST", Paths.sessions).status == 201) }
            for (arguments, count) in [([], 100), (["--limit", "201"], 201), (["--limit", "1"], 1)] {
                let result = try await Self.run(["session", "list"] + arguments, on: app)
                #expect(Set(result.output.split(separator: "\n")).count == count)
                #expect(result.complaints == "concierge: there are more; --limit N shows more\n")
            }
            let all = try await Self.run(["session", "list", "--limit", "1000"], on: app)
            #expect(Set(all.output.split(separator: "\n")).count == 230 && all.complaints.isEmpty)
        }
    }

    @Test(
        "on a terminal: tables, times for people, colours unless NO_COLOR is set, and questions",
        .enabled(if: Terminals.arePossible, Terminals.missing))
    func terminal() async throws {
        try await withApplication(flows: [HeldTaskTests.flow]) { app in
            let (client, id, _) = try await app.newSession()
            let own = try await client.start("order")
            try await client.event("pay", on: own)
            let task = try #require(try await app.admin().claim("charge").first)
            let reason = #"{"reason":"\u001b]0;owned\u0007\u009b2J no line","retry_after":"1h"}"#
            #expect(try await app.admin().post("failure", of: task, reason).status == 204)
            let plain = Self.environment(app).merging(["NO_COLOR": "1"]) { $1 }

            let table = try await Self.onTerminal(["task", "list"], plain).text.split(separator: "\n")
            #expect(table.count == 2)
            let (head, row) = (try #require(table.first), try #require(table.last))
            let place = try #require(head.firstRange(of: "STATUS")?.lowerBound)
            #expect(row.dropFirst(head.distance(from: head.startIndex, to: place)).hasPrefix("waiting "), "\(row)")
            #expect(row.contains(" 1/3 ") && row.contains(" s ago ") && row.contains("in 59 min"), "\(row)")
            // What a back end says does not control the terminal.
            #expect(row.contains(#""\u001b]0;owned\u0007\u009b2J no line""#), "\(row)")
            let json = try await Self.onTerminal(["task", "list", "--json"], plain).text
            #expect(!json.unicodeScalars.contains { $0 == "\u{1B}" || $0 == "\u{9B}" || $0 == "\u{7}" }, "\(json)")
            #expect(try JSONDocument(parsing: json)[string: "task"] == "charge")

            let colored = try await Self.onTerminal(["session", "show", id], Self.environment(app)).text
            #expect(colored.contains("\u{1B}[1mid") && colored.contains("ago (20"))
            let uncolored = try await Self.onTerminal(["session", "show", id], plain).text
            #expect(!uncolored.contains("\u{1B}") && uncolored.contains("id            \(id)\n"), "\(uncolored)")
            let shown = try await Self.onTerminal(["service", "show", id, "profile"], plain).text
            #expect(shown.contains("{\n  \"attributes\": {},\n"), "\(shown)")

            let kept = try await Self.onTerminal(["session", "end", id], plain, typing: "n")
            #expect(kept.status == 1 && kept.text.contains("End session \(id), with its services and journeys? [y/N]"))
            #expect(kept.text.hasSuffix("concierge: nothing was done\n"), "\(kept.text)")
            #expect(try await client.get(Paths.current).status == 200)
            let ended = try await Self.onTerminal(["session", "end", id], plain, typing: "y")
            #expect(ended.status == 0 && ended.text.hasSuffix("Session \(id) has ended.\n"), "\(ended.text)")
            #expect(try await client.get(Paths.current).status == 401)
            #expect(try await Self.onTerminal(["session", "list"], plain).text.hasSuffix("There are none.\n"))
        }
    }

    @Test("the key is that of the other commands; without it, and without a server, a sentence says so")
    func access() async throws {
        let key = "0123456789abcdef0123456789abcdef"
        try await withFolder(["key": key]) { _, folder in
            try await withApplication(setting: \.admin.key, to: Secret(key)) { app in
                let keyless = try await Self.run(["session", "list"], on: app)
                #expect(keyless.status == 1 && keyless.complaints.contains("--admin-key-file"))
                #expect(
                    try await Self.run(["session", "list", "--admin-key-file", "\(folder)/key"], on: app).status == 0)
                let environment = Self.environment(app).merging(["CONCIERGE_ADMIN_KEY": key]) { $1 }
                let known = try await ProgramProcess.run(["session", "list"], environment: environment)
                #expect(known.status == 0, "\(known)")
                // A flag wins over the variable, and without both it is the configuration's.
                let flag = try await ProgramProcess.run(
                    ["session", "list", "--admin-port", "\(app.adminPort)"],
                    environment: ["CONCIERGE_URL": "http://127.0.0.1:1", "CONCIERGE_ADMIN_KEY": key])
                #expect(flag.status == 0, "\(flag)")
                let exported = try await ProgramProcess.run(["export", "\(folder)/all"], environment: environment)
                #expect(exported.status == 0, "\(exported)")
                // The public listener has no such calls.
                let other = try await ProgramProcess.run(
                    ["journey", "count"], environment: ["CONCIERGE_URL": "http://127.0.0.1:\(app.publicPort)/"])
                #expect(other.status == 1 && other.complaints.hasPrefix("concierge: "), "\(other)")
            }
        }
        let gone = try await ProgramProcess.run(
            ["session", "list"], environment: ["CONCIERGE_URL": "http://127.0.0.1:1"])
        #expect(gone.status == 1)
        #expect(gone.complaints == "concierge: no server responds at http://127.0.0.1:1: Connection refused\n")
        let wrong = try await ProgramProcess.run(["session", "list"], environment: ["CONCIERGE_URL": "localhost:8081"])
        #expect(wrong.status == 2 && wrong.complaints.contains("CONCIERGE_URL is \"localhost:8081\""))
    }

    @Test(
        "a command line that is not valid is refused with status 2, before anything is sent",
        arguments: [
            ("session", "session needs an action: one of list, show, end"), ("session shwo x", "did you mean show?"),
            ("session show", "session show needs SESSION: session show SESSION"),
            ("session show a b", "session show takes no argument \"b\""), ("session end .. --yes", "is no SESSION"),
            ("service remove ses_x .. --yes", "\"..\" is no NAME"), ("service remove ses_x a/b --yes", "is no NAME"),
            ("journey show ses_x", "\"ses_x\" is no SESSION/JOURNEY, as in"),
            ("journey end ses_x/ --yes", "is no SESSION/"),
            ("journey end ses_x/../main --yes", "is no SESSION/JOURNEY"), ("task show 7", "is no id of a task"),
            ("session show a --user b", "session show has no flag \"--user\""),
            ("task finish tsk-1-main-1 --yes", "task finish needs --outcome"),
            ("session list --limit 0", "--limit needs a positive integer"),
            ("session list --limit", "--limit needs a value"),
            ("service set ses_x quote {", "JSON|@FILE is not JSON"),
            ("service set ses_x quote @none.json", "none.json"),
        ])
    func usage(line: String, sentence: String) async throws {
        let result = try await ProgramProcess.run(
            line.split(separator: " ").map(String.init), environment: ["CONCIERGE_URL": "http://127.0.0.1:1"])
        #expect(result.status == 2 && result.output.isEmpty, "\(result)")
        #expect(result.lines.count == 1 && result.complaints.contains(sentence), "\(result.complaints)")
    }

    @Test(
        "the help has an example of each, which the server understands",
        arguments: ["session", "service", "journey", "task", "user"])
    func help(command: String) async throws {
        let help = try await ProgramProcess.run(["help", command])
        #expect(help.status == 0)
        let examples = help.output.matches(of: #/\n {6}.*: (concierge .*)/#).map { String($0.output.1) }
        #expect(examples.count >= 3 && examples.count == help.output.matches(of: #/\n {2}concierge /#).count)
        try await withFolder(["profile.json": #"{"name":"Ada"}"#]) { _, folder in
            try await withApplication { app in
                for example in examples {
                    let words = example.dropFirst("concierge".count)
                        .replacing("ses_0197…", with: "ses_01970000000070008000000000000000")
                        .replacing("tsk-0197…", with: "tsk-01970000000070008000000000000000")
                        .replacing("profile.json", with: "\(folder)/profile.json")
                    let yes = asks(example, help.output) ? " --yes" : ""
                    let result = try await ProgramProcess(
                        command: ["/bin/bash", "-c", "\(try ProgramProcess.executable())\(words)\(yes)"],
                        environment: Self.environment(app)
                    ).result()
                    // What it is about does not exist.
                    let isKnown =
                        result.status == 0
                        || result.complaints.contains(#/\([a-z]+_not_found\)|\(task_over\)|not in the list/#)
                    #expect(isKnown, "\(example): \(result)")
                }
            }
        }
    }

    /// Whether the help of the example's command has the flag that answers the question.
    private func asks(_ example: String, _ help: String) -> Bool {
        let words = example.split(separator: " ").prefix(3).joined(separator: " ")
        return help.split(separator: "\n").contains { $0.hasPrefix("  \(words) ") && $0.contains("[--yes]") }
    }
}
