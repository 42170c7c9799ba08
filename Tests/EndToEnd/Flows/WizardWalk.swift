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
}
