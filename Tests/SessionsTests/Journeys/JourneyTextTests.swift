import Testing

@testable import Sessions

@Suite("Journeys as they were shown")
struct JourneyTextTests {
    /// One that shows that text.
    private func journey(_ title: String, step: UInt64 = 3, isAsMoved: Bool = false) -> JourneyText {
        JourneyText(
            journey: "main", bytes: Array(title.utf8), etag: ServiceETag(revision: step), revision: 7, dueAt: nil,
            isOnlyFormOfStep: isAsMoved)
    }

    /// Short enough to be kept, and not.
    static let titles = ["x", String(repeating: "x", count: JourneyText.mostRememberedBytes + 1)]

    @Test("one that looks as it did at its step is known to have looked so all along", arguments: titles)
    func same(title: String) {
        let atStep = journey(title, isAsMoved: true)
        #expect(atStep.isOnlyFormOfStep)
        #expect(journey(title).knowing(atStep.remembered).isOnlyFormOfStep)
        #expect(!journey(title).knowing(journey(title)).isOnlyFormOfStep, "nobody knows how it looked at its step")
    }

    @Test("one that looks different is not, nor is one that looks the same again", arguments: titles)
    func different(title: String) {
        let atStep = journey(title, isAsMoved: true).remembered
        let between = journey(title + "y").knowing(atStep)
        #expect(!between.isOnlyFormOfStep)
        #expect(!journey(title).knowing(between.remembered).isOnlyFormOfStep)
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
        #expect(long.remembered.bytes.isEmpty)
        #expect(long.bytes.count > JourneyText.mostRememberedBytes)
        let short = journey("x")
        #expect(short.keepsItsBytes)
        #expect(short.remembered === short)
    }
}
