import JSONDocument
import Testing

@testable import Navigation

@Suite("The wizard of the documentation")
struct WizardTests {
    private func traveller() throws -> Traveller { try Traveller(Flows.wizard, Flows.editQuote) }

    private func atPage2() throws -> Traveller {
        var traveller = try traveller()
        try traveller.send("sign_in", ["name": "Ada"])
        try traveller.send("next")
        return traveller
    }

    @Test("a journey starts on the initial screen, at step 1, with its deadlines")
    func start() throws {
        let traveller = try traveller()
        #expect(traveller.stack == ["start"])
        #expect(traveller.journey.step == 1)
        #expect(traveller.journey.expiresAt == Traveller.start + 30 * 60_000)
        let view = try traveller.view()
        #expect(view.screen?.name == "Start")
        #expect(view.screen?.title == "Who are you?")
        #expect(view.events.map(\.name) == ["sign_in", "cancel"])
        #expect(view.events.allSatisfy { $0.enabled })
        #expect(!view.canGoBack)
    }

    @Test("signing in writes the name and pushes the first page, in one step")
    func signIn() throws {
        var traveller = try traveller()
        try traveller.send("sign_in", ["name": "Ada"])
        #expect(traveller.stack == ["start", "page1"])
        #expect(traveller.services["profile"][member: "name"] == "Ada")
        #expect(traveller.journey.step == 2)
        #expect(traveller.taken == ["wizard /states/start/on/sign_in"])
        #expect(try traveller.view().canGoBack)
    }

    @Test("data that is not of the event's shape is refused with pointers into it")
    func badData() throws {
        let traveller = try traveller()
        #expect(
            traveller.refusal(of: "sign_in", ["name": 7])
                == .eventDataInvalid([JSONViolation(pointer: "/name", detail: "must be a string")]))
        guard case .eventDataInvalid(let violations)? = traveller.refusal(of: "sign_in") else {
            Issue.record("no data is an empty object, in which the name is missing")
            return
        }
        #expect(violations.map(\.pointer) == ["/name"])
    }

    @Test("an unknown event is refused with those that are known")
    func unknownEvent() throws {
        let traveller = try atPage2()
        #expect(
            traveller.refusal(of: "fly")
                == .eventNotAccepted(event: "fly", accepted: ["edit", "next", "cancel", "back"]))
    }

    @Test("a screen whose requirements do not hold is not entered, and says why")
    func requires() throws {
        var traveller = try traveller()
        let before = traveller.journey
        #expect(
            throws: JourneyRefusal.guardNotMet([
                JSONViolation(pointer: "/profile/name", detail: "must have at least 1 character")
            ])
        ) {
            try traveller.send("sign_in", ["name": ""])
        }
        #expect(traveller.journey == before)
        #expect(traveller.services.written.isEmpty)
    }

    @Test("the child is presented over the page, with its input, and what it saves is there when it ends")
    func child() throws {
        var traveller = try atPage2()
        try traveller.send("edit")
        #expect(traveller.stack == ["start", "page1", "page2", "^show"])
        #expect(traveller.flows == ["wizard", "edit-quote"])
        #expect(traveller.journey.coordinators.last?.input == ["author": "Ada"])
        #expect(
            try traveller.view().coordinators
                == CoordinatorView(
                    flow: "wizard", state: "quote_editor",
                    children: [CoordinatorView(flow: "edit-quote", state: "show", children: [])]))
        try traveller.send("edit")
        #expect(traveller.stack == ["start", "page1", "page2", "^show", "edit"])
        try traveller.send("save", ["text": "Note G"])
        #expect(traveller.stack == ["start", "page1", "page2", "page3"])
        #expect(traveller.flows == ["wizard"])
        #expect(traveller.services["quote"] == ["text": "Note G", "author": "Ada"])
        #expect(
            traveller.taken == ["edit-quote /states/edit/on/save", "wizard /states/quote_editor/on/done.saved"])
    }

    @Test("an empty transition at the end of a child stays where it was started from")
    func cancelledChild() throws {
        var traveller = try atPage2()
        try traveller.send("edit")
        try traveller.send("close")
        #expect(traveller.stack == ["start", "page1", "page2"])
        #expect(traveller.flows == ["wizard"])
    }

    @Test("going back from the child's first screen abandons it")
    func abandonedChild() throws {
        var traveller = try atPage2()
        try traveller.send("edit")
        try traveller.back()
        #expect(traveller.stack == ["start", "page1", "page2"])
        #expect(traveller.flows == ["wizard"])
        #expect(traveller.taken == [])
    }

    @Test("an event of the flow is accepted on the screens of its children, and ends them all")
    func cancel() throws {
        var traveller = try atPage2()
        try traveller.send("edit")
        try traveller.send("cancel")
        #expect(traveller.journey.status == .finished)
        #expect(traveller.journey.outcome == "cancelled")
        #expect(traveller.journey.frames.isEmpty)
        #expect(traveller.journey.coordinators.isEmpty)
        #expect(traveller.refusal(of: "next") == .finished(outcome: "cancelled"))
        let view = try traveller.view()
        #expect(view.screen == nil && view.coordinators == nil && view.events.isEmpty && view.stack.isEmpty)
    }

    @Test("finishing sets a new root and removes the profile")
    func finish() throws {
        var traveller = try atPage2()
        try traveller.send("next")
        try traveller.send("finish")
        #expect(traveller.stack == ["start"])
        #expect(traveller.services["profile"][member: "name"] == "")
        #expect(traveller.changes == [ServiceChange(service: "profile", effect: .removed)])
        #expect(try traveller.view().canGoBack == false)
    }

    @Test("a page whose requirement is gone is left, down to the nearest that may be seen")
    func unreachablePages() throws {
        var traveller = try atPage2()
        try traveller.send("next")
        traveller.services["profile"] = ["name": "", "email": nil, "attributes": .emptyObject]
        #expect(traveller.refusal(of: "back") == .due)
        try traveller.wait(1)
        #expect(traveller.stack == ["start"])
    }

    @Test("the view is printed as the API describes it")
    func json() throws {
        var traveller = try traveller()
        try traveller.send("sign_in", ["name": "Ada"])
        let text = String(decoding: try traveller.view().json, as: UTF8.self)
        #expect(
            text == #"{"id":"main","flow":"wizard","version":1,"status":"active","step":2,"#
                + #""screen":{"id":"page1","name":"Page","title":null,"presentation":"push","#
                + #""data":{"profile":{"attributes":{},"email":null,"name":"Ada"}}},"#
                + #""events":[{"name":"next","enabled":true},{"name":"cancel","enabled":true}],"can_go_back":true,"#
                + #""stack":[{"flow":"wizard","screen":"start","presentation":"root"},"#
                + #"{"flow":"wizard","screen":"page1","presentation":"push"}],"#
                + #""coordinators":{"flow":"wizard","state":"page1","children":[]},"outcome":null,"output":null,"#
                + #""started_at":"2026-01-01T00:00:00.000Z","expires_at":"2026-01-01T00:30:00.000Z","#
                + #""due_at":"2026-01-01T00:30:00.000Z","message":null}"#)
    }

    @Test("a kept journey is small")
    func size() throws {
        var traveller = try atPage2()
        try traveller.send("edit")
        #expect(traveller.journey.json.count < 260)
    }
}
