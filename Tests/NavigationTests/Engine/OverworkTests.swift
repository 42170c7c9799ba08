import JSONDocument
import Navigation
import Testing

@Suite("What takes too much work decides nothing")
struct OverworkTests {
    private static let over = "takes more work than one step may do"

    /// Holds, and takes a good part of a budget.
    private static let holds: JSONDocument = [
        "every": ["of": "/limits/list", "where": ["compare": ["/item", ">=", 0]]]
    ]

    /// Holds, and takes more than a budget.
    private static let endless: JSONDocument = [
        "every": [
            "of": "/limits/list",
            "where": ["every": ["of": "/limits/list", "where": ["compare": ["/item", ">=", 0]]]],
        ]
    ]

    /// Takes more work the more elements the event's list has.
    private static let work: JSONDocument = [
        "op": "add", "path": "/memo/x",
        "value": [
            "$sum": [
                "of": "/event/list", "each": ["$sum": ["of": "/event/list", "each": ["$multiply": ["/item", 2]]]],
            ]
        ],
    ]

    private static func numbers(_ count: Int) -> JSONDocument { JSONDocument((0..<count).map { JSONDocument($0) }) }

    private static func traveller(
        _ states: JSONDocument, adding members: JSONDocument = .emptyObject, elements: Int = 900
    ) throws -> Traveller {
        var services = TestServices()
        services["limits"] = ["list": numbers(elements)]
        return try Traveller(Flows.make(states, adding: members), services: services)
    }

    private static func isOver(_ refusal: JourneyRefusal?) -> Bool {
        switch refusal {
        case .guardNotMet(let reasons)?: reasons.contains { $0.detail.hasPrefix(over) }
        case .actionFailed(let reason)?: reason.detail.hasPrefix(over)
        default: false
        }
    }

    /// What a step does uses up some of the budget, all of it, or more.
    private static func sweep(
        _ traveller: Traveller, _ check: (_ after: Traveller) throws -> Void
    ) throws {
        var taken: Set<Bool> = []
        for count in 90...150 {
            var next = traveller
            let data: JSONDocument = ["list": numbers(count)]
            if let refusal = next.refusal(of: "work", data) {
                #expect(isOver(refusal), "\(count): \(refusal)")
                taken.insert(false)
            } else {
                try next.send("work", data)
                taken.insert(true)
            }
            try check(next)
        }
        #expect(taken == [true, false])
    }

    private static let working: JSONDocument = ["work": ["actions": [work]]]

    @Test("actions of any size never uncover, close or leave a screen whose requires hold")
    func requires() throws {
        let guarded: JSONDocument = ["requires": [Self.holds], "on": Self.working]
        var traveller = try Self.traveller(["a": ["on": ["go": ["target": "b"]]], "b": guarded])
        try traveller.send("go")
        try Self.sweep(traveller) { #expect($0.stack == ["a", "b"]) }
        try Self.sweep(try Self.traveller(["a": guarded])) { #expect($0.journey.isActive) }
        let otherwise = guarded.merging(["otherwise": ["target": "b"]])
        try Self.sweep(try Self.traveller(["a": otherwise, "b": .emptyObject])) { #expect($0.stack == ["a"]) }
    }

    @Test("actions of any size set nothing back that a guard keeps")
    func invalidates() throws {
        let name: JSONDocument = ["op": "replace", "path": "/quote/text", "value": "Not to be."]
        let members: JSONDocument = [
            "invalidates": ["/quote/text": [["path": "/quote/author", "guard": ["not": Self.holds]]]]
        ]
        var traveller = try Self.traveller(["a": ["on": ["work": ["actions": [Self.work, name]]]]], adding: members)
        traveller.services["quote"] = ["text": "To be.", "author": "Will"]
        try Self.sweep(traveller) { #expect($0.services["quote"][member: "author"] == "Will") }
    }

    @Test("an always follows what its guard says, whatever the step has done before")
    func always() throws {
        let always: JSONDocument = [["guard": ["all": [Self.holds, ["has": "/memo/x"]]], "target": "b"]]
        let traveller = try Self.traveller(["a": ["on": Self.working, "always": always], "b": .emptyObject])
        try Self.sweep(traveller) {
            #expect($0.screen == ($0.services["memo"] == .emptyObject ? "a" : "b"))
        }
    }

    @Test("where a rule alone takes too much, a look moves nothing, and events are refused and say why")
    func looks() throws {
        let rules: [JSONDocument] = [
            ["requires": [Self.endless]], ["requires": [Self.endless], "otherwise": ["target": "b"]],
            ["always": [["guard": ["not": Self.endless], "target": "b"]]],
            [
                "requires": [["compare": [["$count": "/limits/list"], "<", 1_000]]],
                "otherwise": ["guard": Self.endless, "target": "b"],
            ],
        ]
        for rule in rules {
            let states: JSONDocument = ["a": rule.merging(["on": ["go": ["target": "b"]]]), "b": .emptyObject]
            // It begins where the rule takes little, and the list grows from outside.
            var traveller = try Self.traveller(states, elements: 0)
            traveller.services["limits"] = ["list": Self.numbers(1_000)]
            #expect(try traveller.view().screen?.id == "a", "\(rule)")
            let step = try traveller.engine.advance(
                traveller.journey, services: traveller.services, now: traveller.now)
            #expect(step == nil, "\(rule)")
            #expect(Self.isOver(traveller.refusal(of: "go")), "\(rule)")
            traveller.abandon()
            #expect(traveller.journey.outcome == "abandoned")
        }
    }

    @Test("a screen whose requires take too much is not reached")
    func reaching() throws {
        let states: JSONDocument = [
            "a": ["on": ["go": ["target": "b"], "choose": ["target": "c"]]], "b": ["requires": [Self.endless]],
            "c": ["type": "choice", "branches": [["guard": Self.endless, "target": "b"], ["target": "a"]]],
        ]
        let traveller = try Self.traveller(states, elements: 1_000)
        for event in ["go", "choose"] { #expect(Self.isOver(traveller.refusal(of: event)), "\(event)") }
    }

    @Test("a look does what time does though a rule takes too much")
    func time() throws {
        let states: JSONDocument = [
            "a": [
                "requires": [Self.endless],
                "timers": [["after": "1h", "actions": [["op": "add", "path": "/memo/late", "value": true]]]],
                "on": ["go": ["target": "a"]],
            ]
        ]
        var traveller = try Self.traveller(states, elements: 0)
        traveller.services["limits"] = ["list": Self.numbers(1_000)]
        try traveller.wait(3_600_000)
        #expect(traveller.stack == ["a"] && traveller.services["memo"][member: "late"] == true)
        let due = traveller.journey.dueAt
        #expect(due.map { $0 > traveller.now } ?? true)
    }

    @Test("each event of a view has a budget of its own")
    func view() throws {
        let small = try Self.traveller([
            "a": ["on": JSONDocument(members: (0..<40).map { ("e\($0)", ["guard": Self.holds, "target": "a"]) })]
        ])
        #expect(try small.view().events.filter(\.enabled).count == 40)
        let never: JSONDocument = ["not": Self.holds]
        let refused = try Self.traveller(["a": ["on": ["x": ["guard": never, "target": "a"]]]], elements: 200)
        #expect(try refused.view().events.map(\.enabled) == [false])
        // Beyond all that a view may do, the step decides.
        let large = try Self.traveller(
            ["a": ["on": JSONDocument(members: (0..<50).map { ("e\($0)", ["guard": Self.endless, "target": "a"]) })]],
            elements: 1_000)
        let events = try large.view().events
        #expect(events[0].enabled == false && events[0].why.allSatisfy { $0.detail.hasPrefix(Self.over) })
        #expect(events.last?.enabled == true)
        #expect(Self.isOver(large.refusal(of: "e49")))
    }

    @Test("back says nothing of what it could not do")
    func back() throws {
        let failing: JSONDocument = ["op": "add", "path": "/memo/a/b", "value": 1]
        let states: JSONDocument = [
            "a": ["on": ["go": ["target": "b"]]],
            "b": [
                "on": ["back": ["actions": [["op": "add", "path": "/memo/c", "value": 1], failing], "say": "Undone"]]
            ],
        ]
        var traveller = try Traveller(Flows.make(states))
        try traveller.send("go")
        var other = traveller
        try traveller.back()
        #expect(traveller.stack == ["a"] && traveller.services["memo"] == .emptyObject)
        #expect(try message(traveller) == .null)
        other.services["memo"] = ["a": .emptyObject]
        try other.back()
        #expect(try message(other) == "Undone")
    }

    @Test("back without data leaves out what takes too much work")
    func wayBack() throws {
        let undo: JSONDocument = ["guard": Self.endless, "actions": [["op": "add", "path": "/memo/c", "value": 1]]]
        let states: JSONDocument = ["a": ["on": ["go": ["target": "b"]]], "b": ["on": ["back": undo]]]
        var traveller = try Self.traveller(states, elements: 1_000)
        try traveller.send("go")
        try traveller.back()
        #expect(traveller.stack == ["a"] && traveller.services["memo"] == .emptyObject)
    }

    /// Cannot be done: its value takes more than a budget.
    private static let tooMuch: JSONDocument = ["set": "/memo/much", "value": ["$if": [endless, 1, 2]]]
    /// Takes no work with lists.
    private static let plain: JSONDocument = ["set": "/memo/plain", "value": ["at": ["$from": "/now"]]]

    @Test("what an exit cannot do keeps no other from being done, however a journey ends")
    func exits() throws {
        let exits: JSONDocument = ["exit": [Self.plain]]
        func isLeft(_ traveller: Traveller) -> Bool {
            let memo = traveller.services["memo"]
            return memo[member: "plain"] != nil && memo[member: "much"] == nil
        }
        let states: JSONDocument = ["a": ["exit": [Self.tooMuch], "on": ["go": ["target": "b"]]], "b": .emptyObject]
        var abandoned = try Self.traveller(states, adding: exits, elements: 1_000)
        abandoned.abandon()
        #expect(abandoned.journey.outcome == "abandoned" && isLeft(abandoned))
        // A new flow begins with what it needs.
        let entry: JSONDocument = ["set": "/memo/sum", "value": ["$sum": ["of": "/limits/list"]]]
        let next = Flows.make(["a": ["on": ["stay": ["target": "a"]]]], id: "next", adding: ["entry": [entry]])
        var services = TestServices()
        services["limits"] = ["list": Self.numbers(1_000)]
        var other = try Traveller(Flows.make(states, adding: exits), next, services: services)
        try other.restart("next")
        #expect(isLeft(other) && other.services["memo"][member: "sum"] == 499_500)
        // Time ends it, and its screen's timeout cannot be taken.
        let late: JSONDocument = ["a": ["timeout": ["after": "1h", "target": "b", "actions": [Self.tooMuch]]]]
        var expired = try Self.traveller(late.merging(["b": .emptyObject]), adding: exits, elements: 1_000)
        try expired.wait(3_600_000)
        #expect(expired.journey.status == .expired && isLeft(expired))
    }

    @Test("back leads back though what it undoes takes too much, and the screen below is entered")
    func undo() throws {
        let states: JSONDocument = [
            "a": ["entry": [Self.plain], "on": ["go": ["target": "b"]]],
            "b": ["entry": [["remove": "memo"]], "on": ["back": ["actions": [Self.tooMuch]]]],
        ]
        var traveller = try Self.traveller(states, elements: 1_000)
        try traveller.send("go")
        try traveller.back()
        #expect(traveller.stack == ["a"] && traveller.services["memo"][member: "plain"] != nil)
    }

    @Test("a timer whose guard takes too much is not taken, whatever the guard would say")
    func timer() throws {
        let path: JSONDocument = ["$pointer": ["limits", ["$if": [Self.endless, "list", "list"]]]]
        let timer: JSONDocument = [
            "after": "1h", "guard": ["not": ["has": path]], "actions": [["set": "/memo/x", "value": true]],
        ]
        var traveller = try Self.traveller(
            ["a": ["timers": [timer], "on": ["stay": ["target": "a"]]]], elements: 1_000)
        try traveller.wait(3_600_000)
        #expect(traveller.services["memo"] == .emptyObject)
    }

    /// Holds, takes somewhat more than half a budget.
    private static let half: JSONDocument = [
        "every": [
            "of": ["$slice": ["/limits/list", 0, 10]],
            "where": ["every": ["of": "/limits/list", "where": ["compare": ["/item", ">=", 0]]]],
        ]
    ]

    @Test("of several timers that are due at once each has a whole budget")
    func timers() throws {
        let timers = (0..<3).map { number -> JSONDocument in
            [
                "after": "1h", "guard": Self.half,
                "actions": [["set": JSONDocument("/memo/t\(number)"), "value": true]],
            ]
        }
        var traveller = try Self.traveller(
            ["a": ["timers": JSONDocument(timers), "on": ["stay": ["target": "a"]]]], elements: 1_000)
        try traveller.wait(3_600_000)
        #expect(traveller.services["memo"].count == 1)
        for _ in 0..<2 { try traveller.wait(0) }
        #expect(traveller.services["memo"].count == 3)
        #expect(traveller.journey.dueAt == nil)
    }

    @Test("an always that is refused takes nothing of the budget of what is sent")
    func refusedAlways() throws {
        let set: JSONDocument = ["set": "/memo/x", "value": ["$if": [Self.half, 1, 2]]]
        let states: JSONDocument = [
            "a": [
                "always": [["guard": ["has": "/limits/list"], "target": "closed", "actions": [set]]],
                "on": ["go": ["guard": Self.half, "target": "b"]],
            ],
            "b": .emptyObject, "closed": ["requires": [["is": "/memo/never"]]],
        ]
        var traveller = try Self.traveller(states, elements: 1_000)
        try traveller.send("go")
        #expect(traveller.screen == "b")
    }

    @Test("why a guard does not hold is found though the guard itself takes much")
    func reasonsOfMuch() throws {
        let most: JSONDocument = ["all": [Self.half, ["compare": ["/limits/list/0", ">", 7]]]]
        let traveller = try Self.traveller(["a": ["on": ["go": ["guard": most, "target": "a"]]]], elements: 1_000)
        #expect(try traveller.view().events.first?.why.map(\.detail) == ["must be more than 7"])
    }

    private func message(_ traveller: Traveller) throws -> JSONDocument? {
        try JSONDocument(parsing: traveller.view().json)[member: "message"]
    }
}
