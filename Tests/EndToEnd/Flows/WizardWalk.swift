import HTTPTestClient
import JSONDocument
import Support
import Testing

@Suite("Walking the wizard")
struct WizardWalk {
    private static let ada: JSONDocument = ["name": "Ada"]

    @Test("signs in, turns three pages, goes back one, finishes, and finds a first screen that knows nobody")
    func finish() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            #expect(try await walk.look().screen == "start")
            try await walk.send("sign_in", Self.ada, to: "page1")
            try await walk.send("next", to: "page2")
            try await walk.send("next", to: "page3")
            try await walk.back(to: "page2")
            let last = try await walk.send("next", to: "page3")
            #expect(last.stack == ["start", "page1", "page2", "page3"])
            #expect(last.shown("profile")?[string: "name"] == "Ada")
            let first = try await walk.send("finish", to: "start")
            #expect(first.stack == ["start"])
            #expect(first.shown("profile") == defaultProfile)
            #expect(first[member: "can_go_back"] == false)
            #expect(try await client.listing(of: "profile")?[string: "status"] == "registered")
            try await walk.refused("back", code: "event_not_accepted")
        }
    }

    @Test("when finish does not remove the profile, the name is still there on the first screen")
    func finishWithoutRemoval() async throws {
        let shipped = try ShippedFiles.flow("wizard")
        let keeping = shipped.replacing(#", "actions": [{ "remove": "profile" }]"#, with: "")
        try #require(keeping != shipped)
        try await withShippedFlows(flows: [keeping, try ShippedFiles.flow("edit-quote")], mainFlow: nil) { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            try await walk.send("sign_in", Self.ada, to: "page1")
            try await walk.send("next", to: "page2")
            try await walk.send("next", to: "page3")
            let first = try await walk.send("finish", to: "start")
            #expect(first.stack == ["start"])
            #expect(first.shown("profile")?[string: "name"] == "Ada")
            #expect(first.enabled == ["sign_in", "next", "cancel"])
        }
    }

    @Test("nobody gets to the pages without a name, neither by an event nor by a deep link")
    func nameless() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            #expect(try await walk.look().why(not: "next") == ["/profile/name"])
            try await walk.refused("next", code: "guard_not_met", at: ["/profile/name"])
            try await walk.refused("sign_in", ["name": ""], code: "guard_not_met", at: ["/profile/name"])
            try await walk.refused("sign_in", ["name": 7], code: "invalid_input", at: ["/data/name"])
            try await walk.refused("sign_in", code: "invalid_input", at: ["/data/name"])
        }
    }

    @Test("a deep link passes the screens that a person would, and goes back over those that are there")
    func deepLink() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            try await walk.unreachable("page3", blockedBy: "page1", at: ["/profile/name"])
            try await client.patch(Paths.profile, #"{"name":"Ada"}"#)
            let there = try await walk.navigate(to: "page3", by: ["page1", "page2", "page3"])
            #expect(there.stack == ["start", "page1", "page2", "page3"])
            let back = try await walk.navigate(to: "page1", by: ["page2", "page1"])
            #expect(back.stack == ["start", "page1"])
            let modal = try await walk.navigate(to: "show", by: ["page2", "show"])
            #expect(modal.coordinators == ["wizard", "edit-quote"])
            let at = try await client.send("POST", Paths.journeys, json: #"{"flow":"wizard","at":"page2"}"#)
            #expect(at.status == 201)
            #expect(at.stack == ["start", "page1", "page2"])
        }
    }

    @Test("starting over begins on the first screen, with another step and the services as they are")
    func startOver() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            try await walk.send("sign_in", Self.ada, to: "page1")
            let second = try await walk.send("next", to: "page2")
            let again = try await client.send("PUT", walk.path)
            #expect(again.status == 200)
            #expect(again.stack == ["start"])
            #expect(again.step == second.step.map { $0 + 1 })
            #expect(again.shown("profile")?[string: "name"] == "Ada")
            try await walk.send("next", to: "page1")
        }
    }

    @Test("an event that is sent twice is taken once")
    func twice() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            let first = try await walk.send("sign_in", Self.ada, to: "page1", fields: key("sign-in"))
            let again = try await walk.send("sign_in", Self.ada, to: "page1", fields: key("sign-in"))
            #expect(again.text == first.text)
            #expect(again["Idempotency-Replayed"] == "true")
            try await walk.send("next", to: "page2", fields: ifMatch(first))
            let stale = try await walk.refused("next", code: "precondition_failed", fields: ifMatch(first))
            #expect(stale.status == 412)
        }
    }

    @Test("the quotation is edited in a modal: saved leads on, cancelled and back stay, cancel on the flow ends all")
    func quote() async throws {
        try await withShippedFlows { _, client in
            let walk = try await Walk(of: "wizard", by: client)
            try await walk.send("sign_in", Self.ada, to: "page1")
            try await walk.send("next", to: "page2")
            let shown = try await walk.send("edit", to: "show")
            #expect(shown.presentation == "modal")
            #expect(shown.coordinators == ["wizard", "edit-quote"])
            #expect(try await walk.send("close", to: "page2").coordinators == ["wizard"])
            try await walk.send("edit", to: "show")
            #expect(try await walk.back(to: "page2").coordinators == ["wizard"])
            try await walk.send("edit", to: "show")
            try await walk.send("edit", to: "edit")
            let saved = try await walk.send("save", ["text": "Do as I say."], to: "page3")
            #expect(saved.stack == ["start", "page1", "page2", "page3"])
            #expect(saved.coordinators == ["wizard"])
            #expect(saved.shown("quote") == ["text": "Do as I say.", "author": "Ada"])
            try await walk.back(to: "page2")
            try await walk.send("edit", to: "show")
            try await walk.finish("cancel", outcome: "cancelled")
        }
    }
}
