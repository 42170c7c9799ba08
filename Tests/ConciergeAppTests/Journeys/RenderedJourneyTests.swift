import Testing

@testable import ConciergeApp
@testable import Navigation
@testable import Sessions

@Suite("Journeys as they were shown")
struct RenderedJourneyTests {
    /// One that shows a screen of that title.
    private func journey(_ title: String, step: UInt64 = 3, isAsMoved: Bool = false) -> RenderedJourney {
        let view = JourneyView(
            id: "main", flow: "f", version: 1, status: .active, step: step,
            screen: ScreenView(id: "a", name: "a", title: title, presentation: .root, data: []), events: [],
            canGoBack: false, stack: [], coordinators: nil, outcome: nil, output: nil, startedAt: 0, expiresAt: nil)
        let shown = ShownJourney(view: view, revision: 7, dueAt: nil, isAsMoved: isAsMoved)
        return RenderedJourney(shown, isRestless: false)
    }

    /// Short enough to be kept, and not.
    static let titles = ["x", String(repeating: "x", count: RenderedJourney.mostKeptBytes)]

    @Test("one that looks as it did at its step is known to have looked so all along", arguments: titles)
    func same(title: String) {
        let atStep = journey(title, isAsMoved: true)
        #expect(atStep.isOnlyFormOfStep)
        #expect(journey(title).knowing(atStep.kept).isOnlyFormOfStep)
        #expect(!journey(title).knowing(journey(title)).isOnlyFormOfStep, "nobody knows how it looked at its step")
    }

    @Test("one that looks different is not, nor is one that looks the same again", arguments: titles)
    func different(title: String) {
        let atStep = journey(title, isAsMoved: true).kept
        let between = journey(title + "y").knowing(atStep)
        #expect(!between.isOnlyFormOfStep)
        #expect(!journey(title).knowing(between.kept).isOnlyFormOfStep)
        // It may be heard of after somebody has looked again.
        let again = journey(title).knowing(atStep)
        #expect(again.isOnlyFormOfStep)
        #expect(!again.hearing(of: between).isOnlyFormOfStep)
        #expect(again.hearing(of: journey(title)).isOnlyFormOfStep)
    }

    @Test("another step is another entity tag: its forms do not matter", arguments: titles)
    func otherStep(title: String) {
        let new = journey(title, step: 4, isAsMoved: true)
        #expect(new.knowing(journey("other")).isOnlyFormOfStep)
        #expect(new.hearing(of: journey("other")).isOnlyFormOfStep)
        #expect(!journey(title, step: 4).knowing(journey(title, isAsMoved: true)).isOnlyFormOfStep)
    }

    @Test("a long one is kept without its bytes, and cannot be given out from there")
    func long() {
        let long = journey(Self.titles[1])
        #expect(!long.keepsItsBytes)
        #expect(long.kept.bytes.isEmpty)
        #expect(long.bytes.count > RenderedJourney.mostKeptBytes)
        let short = journey("x")
        #expect(short.keepsItsBytes)
        #expect(short.kept === short)
    }
}
