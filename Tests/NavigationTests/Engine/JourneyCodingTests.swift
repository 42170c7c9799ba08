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
