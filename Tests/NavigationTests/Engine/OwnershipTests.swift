import JSONDocument
import Testing

@testable import Navigation

/// FLOWS, "Whose services".
@Suite("Services that coordinators own")
struct OwnershipTests {
    /// Owns two services, and starts a child that owns one of them again.
    private static let outer: JSONDocument = [
        "id": "outer", "version": 1, "initial": "a", "owns": ["memo", "log"],
        "guards": ["written": ["service": "memo", "schema": ["required": ["x"]]]],
        "states": [
            "a": [
                "data": ["memo"],
                "on": [
                    "write": ["actions": [["op": "add", "path": "/memo/x", "value": 1]]],
                    "log": ["actions": [["op": "add", "path": "/log/lines/-", "value": "outer"]]],
                    "clear": ["actions": [["clear": "memo"]]], "remove": ["actions": [["remove": "memo"]]],
                    "bad": ["actions": [["op": "add", "path": "/log/lines/-", "value": ["$from": "/event/n"]]]],
                    "next": ["target": "b", "guard": "written"], "child": ["target": "child"],
                    "end": ["target": "done"],
                ],
            ],
            "b": ["requires": ["written"], "on": ["child": ["target": "child"], "end": ["target": "done"]]],
            "child": ["type": "flow", "flow": "inner", "on": ["done": [:]]], "done": ["type": "final"],
        ],
    ]

    private static let inner: JSONDocument = [
        "id": "inner", "version": 1, "initial": "c", "owns": ["log"],
        "states": [
            "c": [
                "data": ["memo", "log"],
                "on": [
                    "log": ["actions": [["op": "add", "path": "/log/lines/-", "value": "inner"]]],
                    "write": ["actions": [["op": "add", "path": "/memo/x", "value": 2]]], "end": ["target": "done"],
                ],
            ],
            "done": ["type": "final"],
        ],
    ]

    private static func names(_ journey: Journey) -> [String] { journey.owned.map { "\($0.coordinator) \($0.name)" } }

    @Test("instances are made at first use, and removed newest first when the coordinator is released")
    func disposal() throws {
        var traveller = try Traveller(Self.outer, Self.inner)
        #expect(traveller.journey.owned.isEmpty)
        try traveller.send("log")
        try traveller.send("child")
        try traveller.send("log")
        try traveller.send("write")
        #expect(Self.names(traveller.journey) == ["0 log", "1 log", "0 memo"])
        #expect(traveller.changes.isEmpty && traveller.services.log.isEmpty, "the session has none of it")
        try traveller.send("end")
        #expect(traveller.ownedChanges == [ServiceChange(service: "log", effect: .removed)])
        #expect(Self.names(traveller.journey) == ["0 log", "0 memo"])
        try traveller.send("end")
        #expect(traveller.ownedChanges == ["memo", "log"].map { ServiceChange(service: $0, effect: .removed) })
        #expect(traveller.journey.owned.isEmpty)
    }

    @Test("a path resolves from the coordinator upwards: in actions, guards and the data of screens")
    func chain() throws {
        var traveller = try Traveller(Self.outer, Self.inner)
        #expect(traveller.refusal(of: "next")?.violations.map(\.pointer) == ["/memo/x"])
        try traveller.send("child")
        try traveller.send("write")
        let child = try traveller.view()
        #expect(child.screen?["memo"] == ["x": 2])
        #expect(child.screen?["log"] == ["lines": []])
        try traveller.send("end")
        #expect(try traveller.view().screen?["memo"] == ["x": 2])
        try traveller.send("next")
        #expect(traveller.journey.top?.state == "b")
    }

    @Test("clear and remove, and what an action breaks, are as for a service of the session")
    func lifecycle() throws {
        var traveller = try Traveller(Self.outer, Self.inner)
        try traveller.send("clear")
        #expect(traveller.journey.owned.isEmpty, "there was none to clear")
        try traveller.send("write")
        try traveller.send("clear")
        #expect(traveller.journey.owned.map(\.document) == [.emptyObject])
        try traveller.send("remove")
        #expect(traveller.journey.owned.isEmpty)
        guard case .serviceInvalid(service: "log", let violations)? = traveller.refusal(of: "bad", ["n": 7]) else {
            Issue.record("it was accepted")
            return
        }
        #expect(violations.map(\.pointer) == ["/log/lines/0"])
    }

    @Test("a deep link sees what the journey owns, and nothing of what a child would own")
    func link() throws {
        var traveller = try Traveller(Self.outer, Self.inner)
        let journey = traveller.journey
        let (engine, services, now) = (traveller.engine, traveller.services, traveller.now)
        #expect(throws: JourneyRefusal.self) {
            try engine.navigate(journey, to: "b", services: services, now: now)
        }
        try traveller.send("write")
        let there = try engine.navigate(traveller.journey, to: "c", services: services, now: now)
        #expect(there.path == ["c"])
        #expect(try engine.navigate(traveller.journey, to: "b", services: services, now: now).path == ["b"])
    }

    @Test("a version that restarts journeys keeps what the flow still owns")
    func restart() throws {
        var traveller = try Traveller(Self.outer, Self.inner)
        try traveller.send("write")
        try traveller.send("child")
        try traveller.send("log")
        var newer = Self.outer.merging(["version": 2, "in_flight": "restart"])
        traveller.engine = FlowEngine(catalog: try Traveller.catalog([Self.outer, newer, Self.inner]))
        try traveller.send("log")
        #expect(traveller.journey.version == 2)
        #expect(Self.names(traveller.journey) == ["0 memo"])
        newer = newer.merging(["version": 3, "owns": ["log"]])
        traveller.engine = FlowEngine(catalog: try Traveller.catalog([newer, Self.inner]))
        try traveller.send("log")
        #expect(traveller.journey.version == 3 && traveller.journey.owned.isEmpty)
    }
}
