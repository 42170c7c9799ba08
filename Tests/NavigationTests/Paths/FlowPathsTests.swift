import JSONDocument
import Testing

@testable import FlowTools
@testable import Navigation

@Suite("Covering scripts")
struct FlowPathsTests {
    private func coverage(_ documents: JSONDocument...) throws -> FlowCoverage {
        let catalog = try Traveller.catalog(documents)
        let flow = try #require(catalog.flow(documents[0][member: "id"]?.string ?? ""))
        return FlowPaths(flow, in: catalog).coveringScripts(services: TestServices())
    }

    @Test("the wizard is covered, child flow and cancelling included")
    func wizard() throws {
        let coverage = try coverage(Flows.wizard, Flows.editQuote)
        #expect(coverage.uncovered == [])
        let taken = coverage.scripts.flatMap(\.takes)
        #expect(
            taken.sorted() == [
                "/on/cancel", "/states/page1/on/next", "/states/page2/on/edit", "/states/page2/on/next",
                "/states/page3/on/finish", "/states/quote_editor/on/done.cancelled",
                "/states/quote_editor/on/done.saved", "/states/start/on/sign_in",
            ])
        #expect(
            coverage.scripts.first?.entries == [
                .event("sign_in", data: ["name": "x"]), .event("next", data: .emptyObject),
                .event("edit", data: .emptyObject), .event("edit", data: .emptyObject),
                .event("save", data: ["text": "x"]),
            ])
    }

    @Test("every script can be played")
    func playable() throws {
        for script in try coverage(Flows.wizard, Flows.editQuote).scripts {
            var traveller = try Traveller(Flows.wizard, Flows.editQuote)
            for case .event(let name, let data) in script.entries { try traveller.send(name, data) }
        }
    }

    @Test("branches are covered with data that leads there")
    func branches() throws {
        let coverage = try coverage(
            Flows.make([
                "a": [
                    "accepts": [
                        "pick": [
                            "type": "object", "required": ["size"],
                            "properties": ["size": ["enum": ["small", "large"]], "gift": ["type": "boolean"]],
                        ]
                    ],
                    "on": [
                        "pick": [
                            ["guard": ["compare": ["/event/size", "==", ["value": "large"]]], "target": "which"],
                            ["target": "end"],
                        ]
                    ],
                ],
                "which": [
                    "type": "choice",
                    "branches": [
                        ["guard": ["compare": ["/event/gift", "==", ["value": true]]], "target": "end"],
                        ["target": "a"],
                    ],
                ],
                "end": ["type": "final"],
            ]))
        #expect(coverage.uncovered == [])
        #expect(coverage.scripts.flatMap(\.takes).count == 4)
    }

    @Test("what is not covered has a reason")
    func reasons() throws {
        let coverage = try coverage(
            Flows.make([
                "a": [
                    "accepts": [
                        "code": [
                            "type": "object", "required": ["pin"],
                            "properties": ["pin": ["type": "string", "pattern": "^[0-9]{4}$", "minLength": 5]],
                        ]
                    ],
                    "timeout": [
                        "after": "10s", "target": "b", "guard": ["compare": ["/limits/low", ">", ["value": 9]]],
                    ],
                    "on": [
                        "code": ["target": "b"],
                        "rich": ["target": "b", "guard": ["compare": ["/limits/low", ">", ["value": 100]]]],
                    ],
                ],
                "b": ["on": ["next": ["target": "a"]]],
            ]))
        let reasons = Dictionary(uniqueKeysWithValues: coverage.uncovered.map { ($0.transition, $0.reason) })
        #expect(reasons["/states/a/on/code"] == "no data was found that the schema of code accepts")
        #expect(reasons["/states/a/on/rich"] == "rich was refused: /limits/low must be more than 100")
        #expect(
            reasons["/states/a/timeout"] == "the timeout passed on the screen, and its guard did not hold"
        )
        #expect(reasons["/states/b/on/next"] == "no way to the screen was found")
    }

    @Test("timers are taken one after the other, those of the flow too")
    func timers() throws {
        let coverage = try coverage(
            Flows.make(
                [
                    "a": [
                        "timers": [
                            ["after": "1h", "every": "1h", "times": 2, "actions": [Flows.note("r")]],
                            ["after": "4h", "target": "b"],
                        ], "on": ["next": ["target": "b"]],
                    ], "b": ["on": ["next": ["target": "a"]]],
                ], adding: ["timers": [["after": "9h", "actions": [Flows.note("f")]]]]))
        #expect(coverage.uncovered == [])
    }

    @Test("time passes where a screen waits for it")
    func waiting() throws {
        let flow = Flows.make([
            "a": ["timeout": ["after": "90s", "target": "b"], "on": ["next": ["target": "b"]]],
            "b": ["on": ["next": ["target": "end"]]], "end": ["type": "final"],
        ])
        let coverage = try coverage(flow)
        #expect(coverage.uncovered == [])
        let script = try #require(coverage.scripts.first { $0.takes.contains("/states/a/timeout") })
        #expect(script.entries.first?.json == ["wait": "90s"])
        var traveller = try Traveller(flow)
        for entry in script.entries {
            switch entry {
            case .event(let name, let data): try traveller.send(name, data)
            case .wait(let milliseconds): try traveller.wait(milliseconds)
            case .backendEvent, .task, .user: Issue.record("no back end has a part in this flow")
            }
        }
    }

    @Test("a child flow that has run out of time tells its parent so")
    func waitingForChild() throws {
        let child = Flows.make(
            ["a": ["on": ["next": ["target": "end"]]], "end": ["type": "final"]], id: "child",
            adding: ["timeout": ["idle": "5m"]])
        let parent = Flows.make([
            "a": ["type": "flow", "flow": "child", "on": ["done.expired": ["target": "b"], "done": ["target": "b"]]],
            "b": ["on": ["next": ["target": "end"]]], "end": ["type": "final"],
        ])
        #expect(try coverage(parent, child).uncovered == [])
    }

    @Test("a flow that wants input is started with some that fits")
    func input() throws {
        let flow = Flows.make(
            ["a": ["on": ["next": ["target": "end"]]], "end": ["type": "final"]],
            adding: [
                "input": [
                    "type": "object", "required": ["amount"],
                    "properties": ["amount": ["type": "integer", "minimum": 3]],
                ]
            ])
        let coverage = try coverage(flow)
        #expect(coverage.uncovered == [])
        #expect(coverage.scripts.map(\.input) == [["amount": 3]])
        #expect(coverage.json[member: "scripts"]?[0]?[member: "input"] == ["amount": 3])
        #expect(coverage.curl(base: "").contains(#"-d '{"flow":"test","input":{"amount":3}}'"#))
    }

    @Test("as JSON and for a shell")
    func forms() {
        let script = FlowScript(
            input: nil,
            entries: [
                .event("say", data: ["text": "it's"]), .wait(milliseconds: 1500), .event("next", data: .emptyObject),
            ],
            takes: ["/states/a/on/say", "/states/b/on/next"])
        let coverage = FlowCoverage(
            flow: "talk", version: 2, scripts: [script],
            uncovered: [.init(transition: "/on/quit", reason: "nobody quits")])
        #expect(
            coverage.json == [
                "flow": "talk", "version": 2,
                "scripts": [
                    [
                        "events": [["event": "say", "data": ["text": "it's"]], ["wait": "1500ms"], ["event": "next"]],
                        "takes": ["/states/a/on/say", "/states/b/on/next"],
                    ]
                ],
                "uncovered": [["transition": "/on/quit", "reason": "nobody quits"]],
            ])
        #expect(
            coverage.curl(base: "http://localhost:8080") == #"""
                #!/bin/sh -e
                BASE='http://localhost:8080'
                JSON='Content-Type: application/json'

                # Script 1 takes /states/a/on/say, /states/b/on/next
                AUTH="Authorization: Bearer $(curl -sf -X POST "$BASE/v1/sessions" | jq -r .token)"
                curl -sf -X PUT "$BASE/v1/sessions/current/journeys/main" -H "$AUTH" -H "$JSON" -d '{"flow":"talk"}'
                curl -sf -X POST "$BASE/v1/sessions/current/journeys/main/events" -H "$AUTH" -H "$JSON" -d '{"data":{"text":"it'\''s"},"event":"say"}'
                sleep 1.5
                curl -sf -X POST "$BASE/v1/sessions/current/journeys/main/events" -H "$AUTH" -H "$JSON" -d '{"event":"next"}'

                # Nothing takes /on/quit: nobody quits

                """#)
    }
}
