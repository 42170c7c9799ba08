import JSONDocument
import Navigation
import Testing

@Suite("Computed values")
struct ValueTests {
    private static func traveller(_ value: JSONDocument) throws -> Traveller {
        let action: JSONDocument = ["op": "add", "path": "/limits/x", "value": value]
        var services = TestServices()
        services["limits"] = [
            "tenth": 0.1, "fifth": 0.2, "price": 19.99, "count": 3, "name": "  Ada Lovelace ", "born": "2008-02-29",
            "list": [1, 2], "long": 12_345_678_901_234_567, "when": "2026-01-31T10:00:00+02:00", "on": true,
            "late": "2026-01-31T23:30:00Z",
        ]
        return try Traveller(Flows.make(["a": ["on": ["go": ["actions": [action]]]]]), services: services)
    }

    private static func from(_ name: String) -> JSONDocument { ["$from": JSONDocument("/limits/\(name)")] }

    @Test(
        "a value is computed, exactly and nested freely",
        arguments: [
            (["$add": [from("tenth"), from("fifth")]], 0.3),
            (["$add": [0.7, 0.1, 0.2]], 1), (["$subtract": [from("fifth"), from("tenth")]], 0.1),
            (["$subtract": [1, 1.1]], -0.1), (["$subtract": [0.3, 0.3]], 0),
            (["$multiply": [from("price"), from("count")]], 59.97),
            (["$multiply": [["$add": [from("price"), 0.01]], ["$count": from("list")]]], 40),
            (["$multiply": [1.1, 1.1]], 1.21), (["$multiply": [250, 0.004]], 1),
            (["$multiply": [9_223_372_036_854_775_807, 0]], 0),
            (["$add": [9_223_372_036_854_775_806, 1]], 9_223_372_036_854_775_807),
            (
                [
                    "$subtract": [
                        ["$add": [9_223_372_036_854_775_807, 9_223_372_036_854_775_807]], 9_223_372_036_854_775_807,
                    ]
                ],
                9_223_372_036_854_775_807
            ),
            (["$concat": ["No. ", from("count"), ", ", ["$trim": from("name")]]], "No. 3, Ada Lovelace"),
            (["$upper": ["$trim": from("name")]], "ADA LOVELACE"), (["$lower": "ÄÖ"], "äö"),
            (["$count": "na\u{ef}ve"], 5), (["$count": []], 0), (["$trim": "  "], ""),
            (["$if": [["is": "/limits/on"], "yes", "no"]], "yes"),
            (["$if": [["compare": ["/limits/count", ">", ["value": 3]]], from("none"), from("count")]], 3),
            (["list": [["$count": from("list")]]], ["list": [2]]),
            (["$add": [["$from": "/limits/none", "default": 4], 1]], 5),
        ] as [(JSONDocument, JSONDocument)])
    func values(value: JSONDocument, result: JSONDocument) throws {
        var traveller = try Self.traveller(value)
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == result)
        #expect(traveller.services["limits"][member: "x"]?.description == result.description)
    }

    @Test(
        "$time adds durations by the calendar",
        arguments: [
            ("/now", "-P18Y", "2008-01-01T00:00:00.000Z"), ("/now", "PT36H", "2026-01-02T12:00:00.000Z"),
            ("/now", "30m", "2026-01-01T00:30:00.000Z"), ("/now", "-P1DT1H", "2025-12-30T23:00:00.000Z"),
            ("/limits/born", "P18Y", "2026-02-28"), ("/limits/born", "P1W", "2008-03-07"),
            ("/limits/born", "-P1M", "2008-01-29"), ("2026-01-31", "P1M", "2026-02-28"),
            ("2024-01-31", "P1M1D", "2024-03-01"), ("/limits/when", "P1M", "2026-02-28T08:00:00.000Z"),
            ("/limits/when", nil, "2026-01-31T08:00:00.000Z"),
            ("2026-03-01T00:30:00.5+01:00", "-P1M", "2026-01-31T23:30:00.500Z"),
        ] as [(JSONDocument, JSONDocument?, JSONDocument)])
    func times(from: JSONDocument, plus: JSONDocument?, result: JSONDocument) throws {
        var time: JSONDocument = ["from": from]
        if let plus { time = time.merging(["plus": plus]) }
        var traveller = try Self.traveller(["$time": time])
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == result)
    }

    @Test(
        "$day is the day in UTC or in a zone, and $days are whole days",
        arguments: [
            (["$day": "/limits/late"], "2026-01-31"),
            (["$day": "/limits/late", "zone": "Europe/Berlin"], "2026-02-01"),
            (["$day": "/limits/born"], "2008-02-29"), (["$day": "2026-01-31T23:30:00-01:00"], "2026-02-01"),
            (["$day": ["$time": ["from": "/limits/late", "plus": "P1D"]]], "2026-02-01"),
            (["$days": ["/limits/born", "2008-03-02"]], 2), (["$days": [["$day": "/now"], "2026-01-31"]], 30),
            (["$time": ["from": ["$day": "/now"], "plus": "-P18Y"]], "2008-01-01"),
        ] as [(JSONDocument, JSONDocument)])
    func days(value: JSONDocument, result: JSONDocument) throws {
        var traveller = try Self.traveller(value)
        try traveller.send("go")
        #expect(traveller.services["limits"][member: "x"] == result)
    }

    /// Whether guards hold that compare two texts by each of the signs; nil for undecided.
    @Test(
        "texts that are times are compared as times, a time and another text only for equality",
        arguments: [
            ("2026-01-01T12:00:00+02:00", "2026-01-01T11:00:00Z", -1),
            ("2026-01-01T12:00:00+02:00", "2026-01-01T10:00:00Z", 0),
            ("2026-01-01T23:00:00Z", "2026-01-01", 0), ("2026-01-02", "2026-01-01T23:00:00Z", 1),
            ("2026-1-1", "2026-01-01", nil), ("2026-01-01", "", nil), ("b", "a", 1), ("2026", "2027", -1),
        ] as [(String, String, Int?)])
    func comparedTimes(one: String, other: String, order: Int?) throws {
        let signs: [(String, (Int) -> Bool)] = [
            ("==", { $0 == 0 }), ("!=", { $0 != 0 }), ("<", { $0 < 0 }), ("<=", { $0 <= 0 }), (">", { $0 > 0 }),
            (">=", { $0 >= 0 }),
        ]
        let on = signs.enumerated().map { place, sign in
            (
                name: "e\(place)",
                value: ["guard": ["compare": ["/limits/one", JSONDocument(sign.0), "/limits/other"]], "target": "b"]
                    as JSONDocument
            )
        }
        let flow = Flows.make(["a": ["on": JSONDocument(members: on)], "b": .emptyObject])
        var services = TestServices()
        services["limits"] = ["one": JSONDocument(one), "other": JSONDocument(other)]
        let traveller = try Traveller(flow, services: services)
        for (place, sign) in signs.enumerated() {
            let holds = order.map(sign.1) ?? (sign.0 == "!=")
            #expect((traveller.refusal(of: "e\(place)") == nil) == holds, "\(sign.0)")
        }
        if order == nil, case .guardNotMet(let reasons)? = traveller.refusal(of: "e2") {
            #expect(reasons.first?.detail.contains("cannot be compared with") == true)
        }
    }

    @Test("a person is eighteen on the birthday")
    func eighteen() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "go": [
                        "guard": ["compare": ["/limits/born", "<=", ["$time": ["from": "/now", "plus": "-P18Y"]]]],
                        "target": "b",
                    ]
                ]
            ], "b": .emptyObject,
        ])
        for (born, isAdult) in [("2008-01-01", true), ("2008-01-02", false), ("1990-05-05", true)] {
            var services = TestServices()
            services["limits"] = ["born": JSONDocument(born)]
            #expect((try Traveller(flow, services: services).refusal(of: "go") == nil) == isAdult)
        }
    }

    @Test(
        "what has no value refuses the step, and says where and why",
        arguments: [
            (["$add": [from("name"), 1]], "/limits/name", "is a string; a number is needed here"),
            (["$add": [from("none"), 1]], "/limits/none", "is needed here, and there is no value"),
            (["$multiply": [from("long"), from("long"), from("long")]], "/limits/long", "more than 34 digits"),
            (["$multiply": [from("long"), from("long")]], "/limits/long", "more digits than a number here can have"),
            (["$add": [1e30, 1e-30]], "", "more than 34 digits"),
            (["$concat": ["a", from("on")]], "/limits/on", "is a boolean; $concat takes strings and numbers"),
            (["$trim": from("count")], "/limits/count", "is a number; $trim takes strings"),
            (["$count": from("count")], "/limits/count", "is a number; $count takes an array or a string"),
            (["$time": ["from": "/limits/name"]], "/limits/name", "is not a date"),
            (["$time": ["from": "/now", "plus": from("name")]], "/limits/name", "is not a duration"),
            (["$time": ["from": "/limits/born", "plus": "PT1H"]], "/limits/born", "not a whole day"),
            (["$time": ["from": "/now", "plus": "P9000Y"]], "/now", "four digits"),
            (["$if": [["compare": ["/limits/none", "==", ["value": 1]]], 1, 2]], "/limits/none", "no value"),
        ] as [(JSONDocument, String, String)])
    func failing(value: JSONDocument, pointer: String, detail: String) throws {
        guard case .actionFailed(let violation)? = try Self.traveller(value).refusal(of: "go") else {
            Issue.record("the action was done")
            return
        }
        #expect(violation.pointer == pointer && violation.detail.contains(detail), "\(violation)")
    }

    @Test("a form of nine fields is one action: merge is RFC 7396")
    func merge() throws {
        let flow = Flows.make([
            "a": [
                "on": [
                    "all": ["actions": [["merge": "/limits", "value": ["$from": "/event"]]]],
                    "part": [
                        "actions": [["merge": "/limits/inner/0", "value": ["n": ["$from": "/event/n"], "gone": nil]]]
                    ],
                    "nowhere": ["actions": [["merge": "/limits/no/way", "value": ["n": 1]]]],
                ]
            ]
        ])
        var services = TestServices()
        services["limits"] = ["low": 1, "inner": [["gone": 1, "kept": 2], 7]]
        var traveller = try Traveller(flow, services: services)
        try traveller.send("all", ["low": nil, "high": 3])
        #expect(traveller.services["limits"] == ["high": 3, "inner": [["gone": 1, "kept": 2], 7]])
        try traveller.send("part", ["n": 4])
        #expect(traveller.services["limits"] == ["high": 3, "inner": [["n": 4, "kept": 2], 7]])
        #expect(traveller.refusal(of: "nowhere")?.violations.first?.pointer == "/limits/no/way")
    }

    @Test("a path may be built, its first part literal")
    func builtPaths() throws {
        func path(_ last: JSONDocument) -> JSONDocument {
            ["$pointer": ["limits", "people", ["$from": "/event/index"], last]]
        }
        let flow = Flows.make([
            "a": [
                "on": [
                    "name": [
                        "actions": [["op": "add", "path": path("name"), "value": ["$upper": ["$from": path("name")]]]]
                    ],
                    "copy": ["actions": [["op": "copy", "from": path("name"), "path": "/limits/last"]]],
                    "merge": ["actions": [["merge": path("more"), "value": ["a/b": 1]]]],
                    "asked": ["guard": ["has": path("more")], "target": "b"],
                ]
            ], "b": .emptyObject,
        ])
        var services = TestServices()
        services["limits"] = ["people": [["name": "ada"], ["name": "bob"]]]
        var traveller = try Traveller(flow, services: services)
        try traveller.send("name", ["index": 1])
        try traveller.send("copy", ["index": 1])
        try traveller.send("merge", ["index": 0])
        #expect(
            traveller.services["limits"]
                == ["people": [["name": "ada", "more": ["a/b": 1]], ["name": "BOB"]], "last": "BOB"])
        #expect(traveller.refusal(of: "asked", ["index": 0]) == nil)
        #expect(traveller.refusal(of: "asked", ["index": 1])?.violations.map(\.pointer) == ["/limits/people/1/more"])
        #expect(traveller.refusal(of: "name", ["index": 2])?.violations.map(\.pointer) == ["/limits/people/2/name"])
        #expect(traveller.refusal(of: "name", ["index": true])?.violations.map(\.pointer) == ["/event/index"])
    }
}

@Suite("Definitions")
struct DefinitionTests {
    @Test(
        "a data path begins with what it is a path in",
        arguments: [
            ("/profile/name", .service("profile"), "/name"), ("/event", .event, ""), ("/input/a~1b", .input, "/a~1b"),
            ("/output/0", .output, "/0"), ("/result", .result, ""), ("/now", .now, ""),
        ] as [(String, DataPath.Root, String)])
    func paths(text: String, root: DataPath.Root, rest: String) {
        #expect(DataPath(text)?.root == root)
        #expect(DataPath(text)?.pointer.description == rest)
    }

    @Test("what is no pointer, or points at everything, is no data path", arguments: ["", "profile", "/a~2"])
    func noPaths(text: String) {
        #expect(DataPath(text) == nil)
    }
}
