import JSONDocument
import Navigation
import Testing

@Suite("What cannot be decided is not false")
struct UndecidedTests {
    /// A screen whose events have the guard, and its opposite.
    private static func traveller(_ guardian: JSONDocument, amount: JSONDocument? = nil) throws -> Traveller {
        let flow = Flows.make([
            "a": [
                "on": ["go": ["guard": guardian, "target": "b"], "not": ["guard": ["not": guardian], "target": "b"]]
            ],
            "b": .emptyObject,
        ])
        var services = TestServices()
        var limits: [(name: String, value: JSONDocument)] = [("limit", 1000), ("low", 1)]
        if let amount { limits.append(("amount", amount)) }
        services["limits"] = JSONDocument(members: limits)
        return try Traveller(flow, services: services)
    }

    private static let aboveLimit: JSONDocument = ["compare": ["/limits/amount", ">", "/limits/limit"]]

    @Test(
        "an amount that is a text, or that is not there, passes no limit: the guard is refused, and its opposite too",
        arguments: ["2000", nil, true, [2000]] as [JSONDocument?])
    func limits(amount: JSONDocument?) throws {
        let traveller = try Self.traveller(Self.aboveLimit, amount: amount)
        for event in ["go", "not"] {
            guard case .guardNotMet(let reasons)? = traveller.refusal(of: event) else {
                Issue.record("\(event) was taken with \(String(describing: amount))")
                continue
            }
            #expect(reasons.map(\.pointer) == ["/limits/amount"])
            #expect(reasons.first?.detail.contains("must be") == false, "\(reasons)")
        }
        let events = try traveller.view().events
        #expect(events.allSatisfy { !$0.enabled && $0.why.map(\.pointer) == ["/limits/amount"] })
    }

    @Test("a number is decided", arguments: [(2000, "go"), (10, "not")] as [(JSONDocument, String)])
    func decided(amount: JSONDocument, taken: String) throws {
        let traveller = try Self.traveller(Self.aboveLimit, amount: amount)
        #expect(traveller.refusal(of: taken) == nil)
        #expect(traveller.refusal(of: taken == "go" ? "not" : "go") != nil)
    }

    private static let yes: JSONDocument = ["compare": ["/limits/low", "==", ["value": 1]]]
    private static let no: JSONDocument = ["compare": ["/limits/low", "==", ["value": 2]]]

    /// The truth tables of Kleene's strong logic, as far as something is undecided.
    @Test(
        "all, any and not follow Kleene",
        arguments: [
            (["all": [aboveLimit, yes]], nil), (["all": [yes, aboveLimit]], nil), (["all": [aboveLimit, no]], false),
            (["all": [no, aboveLimit]], false), (["any": [aboveLimit, yes]], true), (["any": [yes, aboveLimit]], true),
            (["any": [aboveLimit, no]], nil), (["any": [no, aboveLimit]], nil), (["not": aboveLimit], nil),
            (["not": ["not": aboveLimit]], nil), (["any": [["not": aboveLimit], yes]], true),
        ] as [(JSONDocument, Bool?)])
    func kleene(guardian: JSONDocument, verdict: Bool?) throws {
        let traveller = try Self.traveller(guardian, amount: "2000")
        #expect((traveller.refusal(of: "go") == nil) == (verdict == true))
        #expect((traveller.refusal(of: "not") == nil) == (verdict == false))
    }

    @Test("no later transition of a list, and no later branch, is taken when a guard before it is undecided")
    func lists() throws {
        let list: JSONDocument = [["guard": Self.aboveLimit, "target": "b"], ["target": "c"]]
        let flow = Flows.make([
            "a": ["on": ["go": list, "choose": ["target": "choice"]]], "choice": ["type": "choice", "branches": list],
            "b": .emptyObject, "c": .emptyObject,
        ])
        var traveller = try Traveller(flow)
        #expect(try traveller.view().events.first { $0.name == "go" }?.enabled == false)
        for event in ["go", "choose"] {
            guard case .guardNotMet(let reasons)? = traveller.refusal(of: event) else {
                Issue.record("\(event) was taken")
                continue
            }
            #expect(reasons.map(\.pointer) == ["/limits/amount"])
        }
        traveller.services["limits"] = ["amount": 1, "limit": 5]
        try traveller.send("go")
        #expect(traveller.screen == "c")
    }

    @Test("numbers beyond 2 to the power of 63 are compared exactly")
    func exact() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["guard": ["compare": ["/limits/low", "<", "/limits/limit"]], "target": "b"]]],
            "b": .emptyObject,
        ])
        var traveller = try Traveller(flow)
        traveller.services["limits"] = try JSONDocument(
            parsing: #"{"low": 9223372036854775808, "limit": 9223372036854775809}"#)
        #expect(traveller.refusal(of: "go") == nil)
        traveller.services["limits"] = try JSONDocument(
            parsing: #"{"low": 9223372036854775809, "limit": 9223372036854775808}"#)
        #expect(traveller.refusal(of: "go") != nil)
    }

    @Test("what depends on an event that has not come is still offered, unless it can never hold")
    func unknown() throws {
        let byEvent: JSONDocument = ["compare": ["/event/n", ">", ["value": 3]]]
        func isOffered(_ guardian: JSONDocument) throws -> Bool? {
            try Self.traveller(guardian, amount: "2000").view().events.first { $0.name == "go" }?.enabled
        }
        #expect(try isOffered(byEvent) == true)
        #expect(try isOffered(["all": [byEvent, Self.aboveLimit]]) == false)
        #expect(try isOffered(["any": [byEvent, Self.aboveLimit]]) == true)
    }
}
