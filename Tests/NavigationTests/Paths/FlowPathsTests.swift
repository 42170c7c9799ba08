import JSONDocument
import Testing

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
        #expect(coverage.scripts.first?.entries.map(\.event) == ["sign_in", "next", "edit", "edit", "save"])
        #expect(coverage.scripts.first?.entries.last?.data == ["text": "x"])
    }

    @Test("every script can be played")
    func playable() throws {
        for script in try coverage(Flows.wizard, Flows.editQuote).scripts {
            var traveller = try Traveller(Flows.wizard, Flows.editQuote)
            for entry in script.entries { try traveller.send(entry.event, entry.data) }
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
                            "properties": ["pin": ["type": "string", "pattern": "^[0-9]{4}$"]],
                        ]
                    ],
                    "timeout": ["after": "10s", "target": "b"],
                    "on": [
                        "code": ["target": "b"],
                        "rich": ["target": "b", "guard": ["compare": ["/limits/low", ">", ["value": 100]]]],
                    ],
                ],
                "b": ["on": ["next": ["target": "a"]]],
            ]))
        let reasons = Dictionary(uniqueKeysWithValues: coverage.uncovered.map { ($0.transition, $0.reason) })
        #expect(reasons["/states/a/on/code"] == "no data could be made that the schema of code accepts")
        #expect(reasons["/states/a/on/rich"] == "rich was refused: /limits/low must be more than 100")
        #expect(reasons["/states/a/timeout"] == "happens when time has passed, and scripts do not wait")
        #expect(reasons["/states/b/on/next"] == "no way that was found leads to the screen")
    }

    @Test("as JSON and for a shell")
    func forms() {
        let script = FlowScript(
            entries: [.init(event: "say", data: ["text": "it's"]), .init(event: "next", data: .emptyObject)],
            takes: ["/states/a/on/say", "/states/b/on/next"])
        let coverage = FlowCoverage(
            flow: "talk", version: 2, scripts: [script],
            uncovered: [.init(transition: "/on/quit", reason: "nobody quits")])
        #expect(
            coverage.json == [
                "flow": "talk", "version": 2,
                "scripts": [
                    [
                        "events": [["event": "say", "data": ["text": "it's"]], ["event": "next"]],
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
                curl -sf -X POST "$BASE/v1/sessions/current/journeys/main/events" -H "$AUTH" -H "$JSON" -d '{"event":"next"}'

                # Nothing takes /on/quit: nobody quits

                """#)
    }

    @Test(
        "samples fit their schema, the simplest first",
        arguments: [
            (["type": "object"], .emptyObject), (["const": 7], 7), (["enum": ["a", "b"]], "a"),
            (["type": "string", "minLength": 3], "xxx"), (["type": "integer", "minimum": 5], 5),
            (["type": "number", "exclusiveMaximum": 0], -1), (["type": "array", "minItems": 2], [true, true]),
            (["type": "integer", "multipleOf": 4, "minimum": 3], 4), (["default": "d", "type": "string"], "d"),
            (
                ["type": "object", "required": ["a"], "properties": ["a": ["type": "object", "required": ["b"]]]],
                ["a": ["b": "x"]]
            ),
        ] as [(JSONDocument, JSONDocument)])
    func samples(schema: JSONDocument, first: JSONDocument) throws {
        let samples = SampleData.samples(of: ShapeRule(schema: try JSONSchema(schema)))
        #expect(samples.first == first)
    }
}
