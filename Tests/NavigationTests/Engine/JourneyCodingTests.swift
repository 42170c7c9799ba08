import JSONDocument
import Testing

@testable import Navigation

@Suite("Kept journeys")
struct JourneyCodingTests {
    @Test("a journey that is over keeps its outcome and output, and has no screens")
    func over() throws {
        var traveller = try Traveller(Flows.wizard, Flows.editQuote)
        try traveller.send("cancel")
        let kept = try #require(Journey(traveller.journey.document))
        #expect(kept == traveller.journey)
        #expect(kept.outcome == "cancelled")
        #expect(kept.frames.isEmpty)
    }

    @Test(
        "what is not a journey is not taken for one", arguments: [nil, .emptyObject, [], 7] as [JSONDocument])
    func refused(document: JSONDocument) throws {
        #expect(Journey(document) == nil)
    }

    @Test("a task keeps the challenge of the step that began it, and no later one")
    func challenge() throws {
        let flow = Flows.make([
            "a": ["on": ["go": ["target": "check"]]], "b": .emptyObject,
            "check": ["type": "task", "task": "check", "on": ["done": ["target": "b"]]],
        ])
        var traveller = try Traveller(flow)
        traveller.journey.keepChallenge("early")
        #expect(traveller.journey.task == nil && !"\(traveller.journey.document)".contains("challenge"))
        try traveller.send("go")
        var journey = traveller.journey
        let plain = String(decoding: journey.json, as: UTF8.self)
        journey.keepChallenge(nil)
        #expect(journey.json == traveller.journey.json)
        journey.keepChallenge("mine")
        #expect(journey.task?.challenge == "mine" && journey != traveller.journey)
        let text = String(decoding: journey.json, as: UTF8.self)
        #expect(text == plain.replacing(#""check",{}]"#, with: #""check",{}],"challenge":"mine""#))
        #expect(Journey(journey.document) == journey)
        #expect(journey.continuing(after: 7).task?.challenge == "mine")
        journey.step += 1
        journey.keepChallenge("other")
        #expect(journey.task?.challenge == "mine")
    }

    @Test("a journey whose coordinators go round in circles is refused, and can be given up")
    func circles() throws {
        var traveller = try Traveller(Flows.wizard, Flows.editQuote)
        traveller.journey.coordinators.append(
            Coordinator(
                id: 1, flow: "edit-quote", version: 1, parent: 1, startedBy: "quote_editor", input: .emptyObject,
                startedAt: 0))
        traveller.journey.frames.append(Frame(coordinator: 1, state: "show", presentation: .modal))
        guard case .orphaned? = traveller.refusal(of: "cancel") else {
            Issue.record("it was accepted")
            return
        }
        #expect(throws: JourneyRefusal.self) { try traveller.view() }
        traveller.abandon()
        #expect(!traveller.journey.isActive)
    }

    @Test("times beyond all reckoning do no harm")
    func times() throws {
        var traveller = try Traveller(Flows.wizard, Flows.editQuote)
        traveller.now = .max
        traveller.journey.dueAt = nil
        try traveller.restart("wizard")
        #expect(traveller.journey.expiresAt == .max)
    }

    @Test("an input that is nested too deep to be kept is refused")
    func deep() throws {
        var input: JSONDocument = .emptyObject
        for _ in 0..<48 { input = ["x": input] }
        let flow = Flows.make(["a": ["on": ["go": ["target": "a"]]]])
        #expect(throws: JourneyRefusal.self) { _ = try Traveller(flow, input: input) }
        _ = try Traveller(flow, input: try #require(input[member: "x"]))
    }
}
