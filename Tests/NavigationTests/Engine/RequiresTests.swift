import JSONDocument
import Navigation
import Testing

@Suite("What screens require")
struct RequiresTests {
    @Test("what is done on the way may be what the next screen requires", arguments: [true, false])
    func doneOnTheWay(whenLeaving: Bool) throws {
        let naming: JSONDocument = [["op": "replace", "path": "/profile/name", "value": "Ada"]]
        var traveller = try Traveller(
            Flows.make(
                [
                    "a": [
                        "exit": whenLeaving ? naming : [],
                        "on": ["go": ["target": "b", "actions": whenLeaving ? [] : naming]],
                    ],
                    "b": ["requires": ["named"], "on": ["on": ["target": "a"]]],
                ],
                adding: ["guards": Flows.wizard[member: "guards"] ?? .null]))
        #expect(try traveller.view().events.map(\.enabled) == [true])
        try traveller.send("go")
        #expect(traveller.stack == ["a", "b"])
    }

    @Test("a screen may require many things or few, of services or of other data", arguments: [1, 2, 3, 30, 31, 100])
    func requires(count: Int) throws {
        let names = (1...count).map { "n\($0)" }
        let others: [[JSONDocument]] = [
            [], [["input": true, "schema": ["type": "object"]]], [["not": ["any": ["least"]]]], [["not": "first"]],
        ]
        for other in others {
            let all = names.map { name -> JSONDocument in
                ["service": "limits", "schema": ["required": [JSONDocument(name)]]]
            }
            var requires: [JSONDocument] = ["first", ["all": JSONDocument(Array(all.dropFirst()))]]
            if count == 1 { requires.removeLast() }
            requires += other
            let flow = Flows.make(
                [
                    "a": [
                        "on": [
                            "go": ["target": "b"],
                            "set": ["actions": [["op": "replace", "path": "/limits", "value": ["$from": "/event"]]]],
                        ]
                    ],
                    "b": ["requires": JSONDocument(requires), "on": ["on": ["target": "a"]]],
                ],
                adding: [
                    "guards": [
                        "first": all[0], "least": ["service": "limits", "schema": ["required": ["none"]]],
                    ]
                ])
            var traveller = try Traveller(flow)
            for known in [0, count - 1, count] {
                let document = JSONDocument(members: names.prefix(known).map { (name: $0, value: 1) })
                try traveller.send("set", document)
                let isOpen = known == count && other != [["not": "first"]]
                #expect(try traveller.view().events.first { $0.name == "go" }?.enabled == isOpen)
                #expect((traveller.refusal(of: "go") == nil) == isOpen)
            }
            guard other != [["not": "first"]] else { continue }
            try traveller.send("go")
            #expect(traveller.stack == ["a", "b"])
            #expect(try traveller.view().canGoBack)
        }
    }

    @Test("a screen that asks for shapes of several services is open when all fit, whatever has changed in between")
    func shapes() throws {
        let names = ["a", "b", "c", "d"]
        func has(_ place: Int) -> JSONDocument {
            ["service": place < 2 ? "limits" : "log", "schema": ["required": [JSONDocument(names[place])]]]
        }
        func set(_ service: String) -> JSONDocument {
            ["actions": [["op": "replace", "path": JSONDocument("/\(service)"), "value": ["$from": "/event"]]]]
        }
        let flow = Flows.make(
            [
                "a": ["on": ["go": ["target": "all"], "limits": set("limits"), "log": set("log")]],
                "all": ["requires": [has(0), ["all": [has(2), "named"]], has(1)], "on": ["on": ["target": "a"]]],
            ],
            adding: ["guards": ["named": has(3)]])
        var traveller = try Traveller(flow)
        // All subsets, in an order that is none, one service after the other.
        for subset in (0..<64).map({ $0 * 37 % 16 }) {
            for (service, places) in [("limits", 0..<2), ("log", 2..<4)] {
                let held = places.filter { subset >> $0 & 1 == 1 }
                try traveller.send(service, JSONDocument(members: held.map { (name: names[$0], value: 1) }))
                let there = names.filter { name in
                    ["limits", "log"].contains { traveller.services[$0][member: name] != nil }
                }
                #expect(try traveller.view().events.first { $0.name == "go" }?.enabled == (there == names))
                #expect((traveller.refusal(of: "go") == nil) == (there == names), "\(there)")
            }
        }
    }
}
