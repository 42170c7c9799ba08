import JSONDocument
import Navigation
import Testing

@Suite("Stack verbs")
struct VerbTests {
    /// Every screen can go to every other by every verb: `push_b`, `present_c`, `pop_to_a` …
    private static let flow: JSONDocument = {
        var states: [(name: String, value: JSONDocument)] = []
        let names = ["a", "b", "c", "d"]
        for name in names {
            var events: [(name: String, value: JSONDocument)] = []
            for verb in NavigationVerb.allCases {
                for target in names {
                    events.append(
                        (
                            name: "\(verb.rawValue)_\(target)",
                            value: ["target": JSONDocument(target), "nav": JSONDocument(verb.rawValue)]
                        ))
                }
                if verb.standsAlone {
                    events.append((name: verb.rawValue, value: ["nav": JSONDocument(verb.rawValue)]))
                }
            }
            events.append((name: "plain", value: ["target": "b"]))
            events.append((name: "stay", value: ["actions": [Flows.note("stayed")]]))
            states.append(
                (
                    name: name,
                    value: [
                        "on": JSONDocument(members: events), "entry": [Flows.note("+\(name)")],
                        "exit": [Flows.note("-\(name)")],
                    ]
                ))
        }
        return Flows.make(JSONDocument(members: states))
    }()

    @Test(
        "a verb does to the stack what it says",
        arguments: [
            (["plain"], ["a", "b"]),
            (["push_b", "push_c"], ["a", "b", "c"]),
            (["push_a"], ["a", "a"]),
            (["push_b", "replace_c"], ["a", "c"]),
            (["replace_b"], ["b"]),
            (["present_b"], ["a", "^b"]),
            (["present_b", "push_c"], ["a", "^b", "c"]),
            (["present_b", "replace_c"], ["a", "^c"]),
            (["present_b", "present_c"], ["a", "^b", "^c"]),
            (["present_b", "push_c", "dismiss"], ["a"]),
            (["present_b", "present_c", "push_d", "dismiss"], ["a", "^b"]),
            (["present_b", "push_c", "dismiss_d"], ["a", "d"]),
            (["present_b", "push_c", "dismiss_a"], ["a"]),
            (["push_b", "push_c", "pop"], ["a", "b"]),
            (["push_b", "push_c", "pop_d"], ["a", "b", "d"]),
            (["push_b", "push_c", "pop_b"], ["a", "b"]),
            (["present_b", "pop"], ["a"]),
            (["push_b", "push_c", "push_d", "pop_to_b"], ["a", "b"]),
            (["push_b", "push_c", "push_b", "push_d", "pop_to_b"], ["a", "b", "c", "b"]),
            (["push_b", "present_c", "push_d", "pop_to_a"], ["a"]),
            (["push_b", "pop_to_c"], ["a", "b", "c"]),
            (["present_b", "pop_to_c", "push_d", "pop_to_c"], ["a", "^b", "c"]),
            (["pop_to_a"], ["a", "a"]),
            (["push_b", "push_c", "pop_to_root"], ["a"]),
            (["push_b", "present_c", "push_d", "push_a", "pop_to_root"], ["a", "b", "^c"]),
            (["push_b", "push_c", "pop_to_root_d"], ["a", "d"]),
            (["push_b", "present_c", "set_root_d"], ["d"]),
            (["push_b", "back"], ["a"]),
            (["present_b", "back"], ["a"]),
            (["present_b", "push_c", "back"], ["a", "^b"]),
            (["push_b", "stay"], ["a", "b"]),
        ] as [([String], [String])])
    func verbs(events: [String], stack: [String]) throws {
        var traveller = try Traveller(Self.flow)
        for event in events { try traveller.send(event) }
        #expect(traveller.stack == stack)
    }

    @Test("going back where there is nothing is refused", arguments: ["pop", "dismiss", "pop_a"])
    func nothingBelow(event: String) throws {
        let traveller = try Traveller(Self.flow)
        guard case .guardNotMet(let reasons)? = traveller.refusal(of: event) else {
            Issue.record("\(event) was not refused")
            return
        }
        #expect(reasons.map(\.pointer) == [""])
    }

    @Test("an event that cannot do its move is shown as not enabled")
    func disabledMoves() throws {
        var traveller = try Traveller(Self.flow)
        var disabled = try traveller.view().events.filter { !$0.enabled }.map(\.name)
        #expect(disabled.contains("dismiss") && disabled.contains("pop") && !disabled.contains("pop_to_b"))
        try traveller.send("present_b")
        disabled = try traveller.view().events.filter { !$0.enabled }.map(\.name)
        #expect(!disabled.contains("dismiss") && !disabled.contains("pop") && !disabled.contains("pop_to_c"))
    }

    @Test("screens are left and entered in pairs, going back included")
    func entryAndExit() throws {
        var traveller = try Traveller(Self.flow)
        try traveller.send("push_b")
        try traveller.send("stay")
        try traveller.send("present_c")
        try traveller.back()
        try traveller.send("pop_to_a")
        #expect(traveller.services.log == ["+a", "-a", "+b", "stayed", "-b", "+c", "-c", "+b", "-b", "+a"])
    }

    @Test("back is not an event where there is nothing to go back to")
    func backAtTheBottom() throws {
        let traveller = try Traveller(Self.flow)
        guard case .eventNotAccepted("back", let accepted)? = traveller.refusal(of: "back") else {
            Issue.record("back was accepted")
            return
        }
        #expect(!accepted.contains("back"))
        #expect(accepted.contains("plain"))
    }
}

@Suite("History and back")
struct HistoryTests {
    private static let flow = Flows.make([
        "a": [
            "on": [
                "keep": ["target": "b"], "discard": ["target": "b", "history": "discard"],
                "invalidate": ["target": "b", "history": "invalidate"],
            ]
        ],
        "b": [
            "on": [
                "keep": ["target": "c"], "discard": ["target": "c", "history": "discard"],
                "invalidate": ["target": "c", "history": "invalidate"],
                "modal_invalidate": ["target": "c", "nav": "present", "history": "invalidate"], "pop": ["nav": "pop"],
            ]
        ],
        "c": [
            "on": ["keep": ["target": "d"], "dismiss": ["nav": "dismiss"], "pop_to": ["target": "a", "nav": "pop_to"]]
        ],
        "d": ["on": ["stay": ["actions": [Flows.note("d")]]], "back": false],
        "e": ["back": ["target": "b"], "on": ["stay": ["actions": [Flows.note("e")]]]],
    ]).merging(["on": ["e": ["target": "e"]]])

    @Test(
        "going back finds what the history policies left",
        arguments: [
            (["keep", "keep", "back"], ["a", "b"]),
            (["keep", "discard", "back"], ["a"]),
            (["keep", "discard", "pop_to"], ["a"]),
            (["keep", "modal_invalidate", "dismiss"], ["a", "b"]),
            (["keep", "keep", "e", "back"], ["a", "b"]),
            (["e", "back"], ["a", "b"]),
            (["keep", "discard", "e", "back"], ["a", "b", "c", "b"]),
        ] as [([String], [String])])
    func policies(events: [String], stack: [String]) throws {
        var traveller = try Traveller(Self.flow)
        for event in events { try traveller.send(event) }
        #expect(traveller.stack == stack)
    }

    @Test(
        "what cannot be gone back to is not",
        arguments: [
            ["discard"], ["invalidate"], ["keep", "invalidate"], ["keep", "modal_invalidate"],
            ["keep", "modal_invalidate", "dismiss"], ["keep", "keep", "keep"], ["discard", "discard"],
        ])
    func noWayBack(events: [String]) throws {
        var traveller = try Traveller(Self.flow)
        for event in events { try traveller.send(event) }
        #expect(try traveller.view().canGoBack == false)
        guard case .eventNotAccepted? = traveller.refusal(of: "back") else {
            Issue.record("went back from \(traveller.stack)")
            return
        }
    }

    @Test("a transition cannot pop to what was invalidated, either")
    func popOverInvalidated() throws {
        var traveller = try Traveller(Self.flow)
        try traveller.send("invalidate")
        guard case .guardNotMet? = traveller.refusal(of: "pop") else {
            Issue.record("went back")
            return
        }
        try traveller.send("keep")
        let stack = traveller.stack
        try traveller.send("pop_to")
        #expect(traveller.stack == stack + ["a"])
        #expect(try traveller.view().canGoBack)
    }

    @Test("a discarded screen that is looked at again, and left as usual, can be gone back to")
    func preservedAgain() throws {
        let flow = Flows.make([
            "a": ["on": ["next": ["target": "b"]]],
            "b": [
                "on": [
                    "away": ["target": "c", "nav": "present", "history": "discard"], "next": ["target": "c"],
                ]
            ],
            "c": ["on": ["dismiss": ["nav": "dismiss"]]],
        ])
        var traveller = try Traveller(flow)
        try traveller.send("next")
        try traveller.send("away")
        try traveller.send("dismiss")
        try traveller.send("next")
        try traveller.back()
        #expect(traveller.stack == ["a", "b"])
    }
}
