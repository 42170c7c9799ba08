import JSONDocument
import Navigation
import Testing

@Suite("Lists")
struct ListTests {
    private static let items: JSONDocument = [
        ["name": "soup", "price": 4.1, "count": 2, "kind": "meal", "tags": ["hot", "new"]],
        ["name": "tea", "price": 0.2, "count": 3, "kind": "drink", "tags": ["hot"]],
        ["name": "cake", "price": 3, "count": 1, "kind": "meal", "tags": []],
    ]

    /// A screen whose event `go` stores the value, and others with the guard and its opposite.
    private static func traveller(_ value: String, guard guardian: String? = nil) throws -> Traveller {
        let action: JSONDocument = ["op": "add", "path": "/limits/x", "value": try JSONDocument(parsing: value)]
        var on: JSONDocument = ["go": ["actions": [action]], "leave": ["target": "b"]]
        if let guardian = try guardian.map({ try JSONDocument(parsing: $0) }) {
            on = on.merging([
                "pass": ["guard": guardian, "target": "b"], "not": ["guard": ["not": guardian], "target": "b"],
            ])
        }
        var services = TestServices()
        services["limits"] = [
            "items": items, "words": ["b", "a", "b"], "numbers": [3, 1.5, 2, 1.50], "empty": [], "name": "Ada",
            "mixed": [1, "x", 2], "times": ["2026-02-01T00:30:00+01:00", "2026-01-31T23:00:00Z", "2026-02-01"],
            "people": [["name": "Ada", "age": 36], ["name": "Bob", "age": "old"], ["name": "Cleo"]],
            "long": JSONDocument((0..<1_001).map { JSONDocument($0) }), "ada": ["b": 1, "a": 2], "on": true,
            "rows": [[1, 2], [3], []],
        ]
        return try Traveller(Flows.make(["a": ["on": on], "b": .emptyObject]), services: services)
    }

    @Test(
        "functions of lists",
        arguments: [
            (#"{"$sum": {"of": "/limits/items", "each": {"$multiply": ["/item/price", "/item/count"]}}}"#, "11.8"),
            (#"{"$sum": {"of": "/limits/numbers"}}"#, "8"), (#"{"$sum": {"of": "/limits/empty"}}"#, "0"),
            (#"{"$sum": {"of": "/limits/items", "each": "/index"}}"#, "3"), (#"{"$sum": {"of": [0.1, 0.2]}}"#, "0.3"),
            (#"{"$sum": {"of": "/limits/rows", "each": {"$sum": {"of": "/item"}}}}"#, "6"),
            (#"{"$map": {"of": "/limits/items", "each": "/item/name"}}"#, #"["soup","tea","cake"]"#),
            (
                #"{"$map": {"of": "/limits/words", "each": {"at": "/index", "is": {"$upper": "/item"}}}}"#,
                #"[{"at":0,"is":"B"},{"at":1,"is":"A"},{"at":2,"is":"B"}]"#
            ),
            (
                #"{"$map": {"of": "/limits/rows", "each": {"$map": {"of": "/item", "each": ["/index", "/item"]}}}}"#,
                "[[[0,1],[1,2]],[[0,3]],[]]"
            ),
            (
                #"{"$map": {"of": {"$filter": {"of": "/limits/items", "where": {"compare": ["/item/kind", "==", "meal"]}}}, "each": "/item/name"}}"#,
                #"["soup","cake"]"#
            ),
            (
                #"{"$find": {"of": "/limits/items", "where": {"in": ["new", "/item/tags"]}}}"#,
                #"{"count":2,"kind":"meal","name":"soup","price":4.1,"tags":["hot","new"]}"#
            ),
            (#"{"$find": {"of": "/limits/words", "where": {"compare": ["/item", "==", "c"]}}}"#, "null"),
            (#"{"$sort": {"of": "/limits/words"}}"#, #"["a","b","b"]"#),
            (#"{"$sort": {"of": "/limits/numbers", "descending": true}}"#, "[3,2,1.5,1.5]"),
            (
                #"{"$map": {"of": {"$sort": {"of": "/limits/items", "by": {"$count": "/item/tags"}}}, "each": "/item/name"}}"#,
                #"["cake","tea","soup"]"#
            ),
            (
                #"{"$sort": {"of": "/limits/times"}}"#,
                #"["2026-02-01T00:30:00+01:00","2026-01-31T23:00:00Z","2026-02-01"]"#
            ),
            (#"{"$slice": ["/limits/words", 1]}"#, #"["a","b"]"#),
            (#"{"$slice": ["/limits/words", -2, 1]}"#, #"["a"]"#),
            (#"{"$slice": ["/limits/words", 9]}"#, "[]"), (#"{"$slice": ["/limits/words", -9, 2]}"#, #"["b","a"]"#),
            (#"{"$slice": ["/limits/long", 999, 1]}"#, "[999]"), (#"{"$slice": ["/limits/name", 1, 9]}"#, #""da""#),
            (#"{"$slice": ["/limits/name", -1]}"#, #""a""#),
            (#"{"$slice": [{"$concat": ["/limits/name", "!"]}, -2]}"#, #""a!""#),
            (#"{"$join": ["/limits/words", ", "]}"#, #""b, a, b""#), (#"{"$join": ["/limits/empty", "-"]}"#, #""""#),
            (#"{"$join": [["", 1, "x"], "-"]}"#, #""-1-x""#), (#"{"$unique": "/limits/words"}"#, #"["b","a"]"#),
            (
                #"{"$unique": [1, 1.0, "1", true, [1], [1.0], {"a": 1}, {"a": 1}]}"#,
                #"[1,"1",true,[1],{"a":1}]"#
            ),
            (#"{"$min": "/limits/numbers"}"#, "1.5"), (#"{"$max": "/limits/numbers"}"#, "3"),
            (#"{"$max": "/limits/words"}"#, #""b""#),
            (
                #"{"$min": ["2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z"]}"#, #""2026-01-01T12:00:00+02:00""#
            ),
            (#"{"$keys": "/limits/ada"}"#, #"["a","b"]"#), (#"{"$round": [2.345, 2]}"#, "2.35"),
            (#"{"$round": [-2.5, 0]}"#, "-3"), (#"{"$round": [149, -2]}"#, "100"), (#"{"$round": [0.4, 0]}"#, "0"),
            (#"{"$round": [{"$multiply": [19.99, 0.19]}, 2]}"#, "3.8"), (#"{"$round": [7, 2]}"#, "7"),
            (
                #"{"$count": {"$filter": {"of": "/limits/words", "where": {"not": {"compare": ["/item", "==", "a"]}}}}}"#,
                "2"
            ),
        ])
    func values(value: String, result: String) throws {
        var traveller = try Self.traveller(value)
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"]?.description == result)
    }

    @Test(
        "what has no value refuses the step, and points to the element",
        arguments: [
            (
                #"{"$sum": {"of": "/limits/people", "each": "/item/age"}}"#, "/limits/people/1/age",
                "is a string; a number is needed here"
            ),
            (#"{"$map": {"of": "/limits/people", "each": "/item/age"}}"#, "/limits/people/2/age", "there is no value"),
            (
                #"{"$sum": {"of": {"$filter": {"of": "/limits/people", "where": {"compare": ["/item/name", "!=", "Ada"]}}}, "each": "/item/age"}}"#,
                "/limits/people/1/age", "is a string"
            ),
            (
                #"{"$filter": {"of": "/limits/people", "where": {"compare": ["/item/age", ">", 3]}}}"#,
                "/limits/people/1/age", "is a string and cannot be compared with a number"
            ),
            (
                #"{"$sort": {"of": "/limits/mixed"}}"#, "/limits/mixed/1",
                "is a string and cannot be compared with a number"
            ),
            (#"{"$sort": {"of": "/limits/rows"}}"#, "/limits/rows/0", "is an array; $sort takes numbers or strings"),
            (
                #"{"$min": ["2026-01-01", "x"]}"#, "",
                "is a string that is not a time and cannot be compared with a time"
            ),
            (#"{"$max": "/limits/empty"}"#, "/limits/empty", "is empty"),
            (#"{"$sum": {"of": "/limits/name"}}"#, "/limits/name", "is a string; $sum takes a list"),
            (#"{"$sum": {"of": "/limits/none"}}"#, "/limits/none", "there is no value"),
            (#"{"$sum": {"of": "/limits/long"}}"#, "/limits/long", "has 1001 elements; $sum takes at most 1000"),
            (#"{"$join": ["/limits/rows", ""]}"#, "/limits/rows/0", "is an array; $join takes strings and numbers"),
            (#"{"$keys": "/limits/words"}"#, "/limits/words", "is an array; $keys takes an object"),
            (#"{"$slice": ["/limits/words", 0.5]}"#, "", "is not a whole number"),
            (#"{"$slice": ["/limits/words", 0, {"$subtract": [0, 1]}]}"#, "", "is negative"),
            (#"{"$round": [1, {"$multiply": [99, 99]}]}"#, "", "$round takes from -34 to 34"),
            (#"{"$round": [1, -9223372036854775808]}"#, "", "$round takes from -34 to 34"),
            (#"{"$sum": {"of": [1e30, 1e-30]}}"#, "", "more than 34 digits"),
        ])
    func failing(value: String, pointer: String, detail: String) throws {
        guard case .actionFailed(let violation)? = try Self.traveller(value).refusal(of: "go") else {
            Issue.record("the action was done")
            return
        }
        #expect(violation.pointer == pointer && violation.detail.contains(detail), "\(violation)")
    }

    /// A guard about the age of each of the people: one is 36, one is a text, one is not there.
    private static func ages(_ quantifier: String, _ sign: String, _ age: Int) -> String {
        #"{"\#(quantifier)": {"of": "/limits/people", "where": {"compare": ["/item/age", "\#(sign)", \#(age)]}}}"#
    }

    private static let noText = "/limits/people/1/age is a string and cannot be compared with a number"
    private static let noAge = "/limits/people/2/age is needed here, and there is no value"

    @Test(
        "every, some and in: what is undecided is neither, and reasons point to the element",
        arguments: [
            (#"{"in": ["/limits/name", ["Ada", "Bob"]]}"#, true, [#"/limits/name must not be in ["Ada","Bob"]"#]),
            (
                #"{"in": ["/limits/name", "/limits/words"]}"#, false,
                ["/limits/name must be in the value at /limits/words"]
            ),
            (#"{"in": ["a", "/limits/words"]}"#, true, [#"/limits/words must not have the element "a""#]),
            (#"{"in": ["/limits/on", [true, null]]}"#, true, ["/limits/on must not be in [true,null]"]),
            (#"{"in": [2, "/limits/mixed"]}"#, true, ["/limits/mixed must not have the element 2"]),
            (#"{"in": ["/limits/none", []]}"#, nil, ["/limits/none is needed here, and there is no value"]),
            (#"{"in": ["/limits/name", "/limits/name"]}"#, nil, ["/limits/name is a string; in takes a list"]),
            (
                #"{"in": [3, "/limits/mixed"]}"#, nil,
                ["/limits/mixed/1 is a string and cannot be compared with a number"]
            ),
            (ages("every", ">", 40), false, ["/limits/people/0/age must be more than 40", noText, noAge]),
            (ages("every", "<", 40), nil, [noText, noAge]),
            (ages("some", "<", 40), true, ["/limits/people/0/age must be at least 40"]),
            (ages("some", ">", 40), nil, ["/limits/people/0/age must be more than 40", noText, noAge]),
            (
                #"{"every": {"of": "/limits/items", "where": {"in": ["/item/kind", ["meal"]]}}}"#, false,
                [#"/limits/items/1/kind must be in ["meal"]"#]
            ),
            (
                #"{"every": {"of": "/limits/items", "where": {"has": "/item/kind"}}}"#, true,
                (0...2).map { "/limits/items/\($0)/kind must not be there" }
            ),
            (
                #"{"every": {"of": "/limits/empty", "where": {"has": "/item"}}}"#, true,
                ["/limits/empty must not be empty"]
            ),
            (
                #"{"some": {"of": "/limits/empty", "where": {"has": "/item"}}}"#, false,
                ["/limits/empty must have an element"]
            ),
            (
                #"{"every": {"of": "/limits/items", "where": {"some": {"of": "/item/tags", "where": {"compare": ["/item", "==", "hot"]}}}}}"#,
                false, ["/limits/items/2/tags must have an element"]
            ),
            (
                #"{"every": {"of": "/limits/items", "where": {"every": {"of": "/item/tags", "where": {"compare": ["/item", "==", "hot"]}}}}}"#,
                false, [#"/limits/items/0/tags/1 must be equal to "hot""#]
            ),
            (
                #"{"some": {"of": "/limits/items", "where": {"every": {"of": "/item/tags", "where": {"compare": ["/item", "==", "cold"]}}}}}"#,
                true, ["/limits/items/2/tags must not be empty"]
            ),
            (
                #"{"every": {"of": {"$sort": {"of": "/limits/items", "by": "/item/price"}}, "where": {"compare": ["/item/price", "<", 4]}}}"#,
                false, ["/limits/items/0/price must be less than 4"]
            ),
            (
                #"{"every": {"of": {"$map": {"of": "/limits/items", "each": "/item/price"}}, "where": {"compare": ["/item", "<", 4]}}}"#,
                false, ["/limits/items must be less than 4"]
            ),
            (
                #"{"compare": [{"$count": "/limits/words"}, "==", 4]}"#, false,
                ["/limits/words is used to compute a value that must be equal to 4"]
            ),
            (
                #"{"some": {"of": "/limits/long", "where": {"has": "/item"}}}"#, nil,
                ["/limits/long has 1001 elements; some takes at most 1000"]
            ),
        ] as [(String, Bool?, [String])])
    func guards(guardian: String, verdict: Bool?, reasons: [String]) throws {
        let traveller = try Self.traveller("1", guard: guardian)
        #expect((traveller.refusal(of: "pass") == nil) == (verdict == true))
        #expect((traveller.refusal(of: "not") == nil) == (verdict == false))
        // Of a guard that holds, its opposite says why not.
        guard case .guardNotMet(let said)? = traveller.refusal(of: verdict == true ? "not" : "pass") else {
            Issue.record("nothing was refused")
            return
        }
        #expect(said.map { "\($0.pointer) \($0.detail)" } == reasons)
    }

    @Test("a guard in a list may depend on the event that has not come")
    func unknown() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "go": [
                        "target": "a",
                        "guard": [
                            "every": ["of": "/limits/words", "where": ["compare": ["/item", "!=", "/event/word"]]]
                        ],
                    ]
                ]
            ]
        ])
        var services = TestServices()
        services["limits"] = ["words": ["a", "b"]]
        let traveller = try Traveller(flow, services: services)
        #expect(try traveller.view().events.first?.enabled == true)
        #expect(traveller.refusal(of: "go", ["word": "c"]) == nil)
        #expect(traveller.refusal(of: "go", ["word": "b"])?.violations.map(\.pointer) == ["/limits/words/1"])
    }

    @Test("a path may be built from the element: a price from a catalogue")
    func built() throws {
        var traveller = try Self.traveller(
            #"{"$sum": {"of": "/limits/words", "each": {"$from": {"$pointer": ["limits", "ada", {"$from": "/item"}]}, "default": 0}}}"#
        )
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == 4)
    }
}

@Suite("One rule for values")
struct ValueRuleTests {
    @Test(
        "in arguments a text that begins with / is a path, and everything else is a literal",
        arguments: [
            (["$add": ["/limits/low", 5]], 6), (["$concat": ["No. ", "/limits/low"]], "No. 1"),
            (["$concat": [["value": "/limits/low"], "!"]], "/limits/low!"),
            (["$concat": ["/", "/elsewhere/", "/limits/low"]], "//elsewhere/1"), (["$upper": "/limits/name"], "X"),
            (["$count": "/limits/name"], 1), (["$count": ["value": "/limits/name"]], 12),
            (["$if": [["compare": ["/limits/name", "==", "x"]], "/limits/high", "no"]], 10),
            (["$if": [["compare": ["/limits/name", "==", "y"]], "yes", "/home"]], "/home"),
            (["$if": [["is": "/limits/low"], 1, ["value": 3]]], ["value": 3]),
            (["$if": [["compare": [["value": "/limits/low"], "==", "/limits/name"]], 1, 2]], 2),
            (["$if": [["compare": [5, ">", "/limits/low"]], "/limits/low", 2]], 1),
            (["$trim": ["$from": "/limits/none", "default": "/limits/name"]], "x"),
            (["$trim": ["$pointer": ["limits", "name"]]], "x"),
            (["$slice": [["value": "/limits"], 1]], "limits"),
            ("/limits/low", "/limits/low"), (["a": ["/limits/low"]], ["a": ["/limits/low"]]),
            (["value": "/limits/low"], ["value": "/limits/low"]),
            (["$from": "/limits/none", "default": "/limits/low"], "/limits/low"),
        ] as [(JSONDocument, JSONDocument)])
    func values(value: JSONDocument, result: JSONDocument) throws {
        let action: JSONDocument = ["op": "add", "path": "/limits/x", "value": value]
        var traveller = try Traveller(Flows.make(["a": ["on": ["go": ["actions": [action]]]]]))
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == result)
    }

    @Test("inside of lists the nearest element is /item, outside a service may be called so")
    func names() throws {
        let inner: JSONDocument = ["$map": ["of": "/item", "each": "/item/n"]]
        let action: JSONDocument = [
            "op": "add", "path": "/limits/x", "value": ["$map": ["of": "/limits/rows", "each": inner]],
        ]
        var services = TestServices()
        services["limits"] = ["rows": [[["n": 1]], [["n": 2], ["n": 3]]]]
        var traveller = try Traveller(Flows.make(["a": ["on": ["go": ["actions": [action]]]]]), services: services)
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == [[1], [2, 3]])
    }
}
