import JSONDocument
import Navigation
import Testing

@Suite("The budget of a step")
struct ListWorkTests {
    private static let over = "takes more work than one step may do"

    private static func traveller(_ on: JSONDocument, _ states: JSONDocument = .emptyObject) throws -> Traveller {
        var services = TestServices()
        services["limits"] = [
            "list": JSONDocument((0..<1_000).map { JSONDocument($0) }),
            "texts": JSONDocument((0..<1_000).map { JSONDocument(String(repeating: "x", count: 2_000) + "\($0)") }),
            "text": "0123456789", "small": JSONDocument((0..<10).map { JSONDocument($0) }),
        ]
        let screen: JSONDocument = ["a": ["on": on]]
        return try Traveller(Flows.make(screen.merging(states)), services: services)
    }

    /// Each is more than a step may do: in time, in memory, or both.
    @Test(
        "lists in lists, and texts in texts, are refused, and say so",
        arguments: [
            ["$sum": ["of": "/limits/list", "each": ["$sum": ["of": "/limits/list"]]]],
            ["$count": ["$map": ["of": "/limits/list", "each": "/limits"]]],
            ["$map": ["of": "/limits/list", "each": ["$map": ["of": "/limits/list", "each": "/index"]]]],
            ["$count": ["$filter": ["of": "/limits/list", "where": ["in": ["/item", "/limits/list"]]]]],
            ["$count": ["$map": ["of": "/limits/texts", "each": ["$sort": ["of": "/limits/texts"]]]]],
            ["$sort": ["of": "/limits/texts"]],
            ["$count": ["$map": ["of": "/limits/list", "each": ["$unique": "/limits/texts"]]]],
            ["$count": ["$map": ["of": "/limits/list", "each": ["$join": ["/limits/texts", "/limits/texts/0"]]]]],
            ["$join": ["/limits/list", ["$join": ["/limits/texts", "-"]]]],
            ["$count": ["$map": ["of": "/limits/list", "each": ["$upper": "/limits/texts/0"]]]],
            [
                "$count": [
                    "$filter": [
                        "of": "/limits/list",
                        "where": ["every": ["of": "/limits/list", "where": ["compare": ["/item", "<", 2_000]]]],
                    ]
                ]
            ],
        ] as [JSONDocument])
    func tooMuch(value: JSONDocument) throws {
        let traveller = try Self.traveller(["go": ["actions": [["op": "add", "path": "/limits/x", "value": value]]]])
        guard case .actionFailed(let violation)? = traveller.refusal(of: "go") else {
            Issue.record("the action was done")
            return
        }
        #expect(violation.pointer.hasPrefix("/limits"))
        #expect(violation.detail.hasPrefix(Self.over), "\(violation)")
    }

    @Test("a text that is joined with itself again and again, and a list that is put into itself, are refused")
    func doubling() throws {
        let text: JSONDocument = [
            "op": "replace", "path": "/limits/text", "value": ["$concat": ["/limits/text", "/limits/text"]],
        ]
        let list: JSONDocument = [
            "op": "replace", "path": "/limits/small",
            "value": [["$from": "/limits/small"], ["$from": "/limits/small"]],
        ]
        let traveller = try Self.traveller([
            "texts": ["actions": JSONDocument(Array(repeating: text, count: 60))],
            "lists": ["actions": JSONDocument(Array(repeating: list, count: 60))],
        ])
        for event in ["texts", "lists"] {
            guard case .actionFailed(let violation)? = traveller.refusal(of: event) else {
                Issue.record("\(event) were doubled")
                continue
            }
            // A patch has bounds of its own.
            let isTooLarge = violation.detail == "The patch adds too much to the document."
            #expect(violation.detail.hasPrefix(Self.over) || isTooLarge, "\(violation)")
        }
    }

    @Test(
        "guards that ask too much are undecided: the event, its opposite, links and the view say so, and nothing else")
    func guards() throws {
        let all: JSONDocument = ["of": "/limits/list", "where": ["in": ["/item", "/limits/list"]]]
        let traveller = try Self.traveller(
            [
                "every": ["guard": ["every": all], "target": "b"],
                "not": ["guard": ["not": ["every": all]], "target": "b"],
                "free": ["target": "c"],
            ], ["b": .emptyObject, "c": .emptyObject])
        for event in ["every", "not"] {
            guard case .guardNotMet(let reasons)? = traveller.refusal(of: event) else {
                Issue.record("\(event) was taken")
                continue
            }
            #expect(reasons.allSatisfy { $0.detail.hasPrefix(Self.over) } && !reasons.isEmpty, "\(reasons)")
        }
        let events = try traveller.view().events
        #expect(events.filter(\.enabled).map(\.name) == ["free"])
        #expect(throws: JourneyRefusal.self) {
            try traveller.engine.navigate(
                traveller.journey, to: "b", services: traveller.services, now: traveller.now)
        }
    }

    @Test("what a step may do is enough for a sum over 1,000 items, with 20 parts each")
    func enough() throws {
        var services = TestServices()
        let item: JSONDocument = ["price": 1.25, "count": 3, "parts": JSONDocument(Array(repeating: 1, count: 20))]
        services["limits"] = ["items": JSONDocument(Array(repeating: item, count: 1_000))]
        let value: JSONDocument = [
            "$sum": ["of": "/limits/items", "each": ["$multiply": ["/item/price", "/item/count"]]]
        ]
        let some: JSONDocument = ["every": ["of": "/limits/items", "where": ["in": [1, "/item/parts"]]]]
        var traveller = try Traveller(
            Flows.make([
                "a": ["on": ["go": ["guard": some, "actions": [["op": "add", "path": "/limits/x", "value": value]]]]]
            ]), services: services)
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == 3_750)
    }

    /// Each level asked twice would be 2 to the power of the levels.
    @Test("what is nested is asked once on each level, also where it has no value")
    func nested() throws {
        func path(_ depth: Int) -> JSONDocument {
            depth == 0
                ? ["$from": "/limits/none"] : ["$from": ["$pointer": ["limits", path(depth - 1)]]]
        }
        func choice(_ depth: Int) -> JSONDocument {
            depth == 0
                ? "/limits/none" : ["$if": [["compare": [choice(depth - 1), "==", 1]], 1, 2]]
        }
        func slice(_ depth: Int) -> JSONDocument {
            depth == 0 ? "/limits/text" : ["$slice": [slice(depth - 1), 0]]
        }
        func sort(_ depth: Int) -> JSONDocument {
            depth == 0 ? "/limits/list" : ["$sort": ["of": sort(depth - 1)]]
        }
        for value in [path(18), choice(13), slice(26), sort(26)] {
            let traveller = try Self.traveller([
                "go": ["actions": [["op": "add", "path": "/limits/x", "value": value]]]
            ])
            _ = traveller.refusal(of: "go")
        }
    }
}
