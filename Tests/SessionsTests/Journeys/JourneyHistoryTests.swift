import JSONDocument
import Navigation
import SeededRandomness
import Testing

@testable import Sessions

@Suite("Histories of journeys")
struct JourneyHistoryTests {
    private struct Noted: Equatable {
        var cause: StepCause.Kind
        var event: String?
        var from: String?
        var to: String?
        var actor: JourneyActor
        var time: Int64
    }

    private func noted(_ history: JourneyHistory?) -> [Noted] {
        (history?.steps(timesMovedBy: 0) ?? []).map {
            Noted(
                cause: $0.cause, event: $0.event, from: $0.from, to: $0.to, actor: $0.actor,
                time: $0.time.millisecondsSince1970)
        }
    }

    private func stored(_ history: JourneyHistory) throws -> JourneyHistory {
        var json = JSONWriter()
        history.write(to: &json)
        #expect(try JSONDocument(parsing: json.bytes) == history.document)
        var reader = try JSONReader(json.bytes)
        let read = try #require(try JourneyHistory(reading: &reader))
        #expect(noted(JourneyHistory(history.document)) == noted(read))
        return read
    }

    @Test("the last fifty steps are read as they were noted, however often they are stored", arguments: 0..<40)
    func property(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let causes: [StepCause] = [
            .start, .startOver, .event("next"), .event("a \"quoted\" é"), .navigation, .task(outcome: "ok"), .timer,
            .rule, .version, .move,
        ]
        let names = (0..<Int.random(in: 2...120, using: &random)).map { "screen \($0)" }
        var (history, model): (JourneyHistory?, [Noted]) = (nil, [])
        var (now, screen): (Int64, String?) = (1_767_225_600_000, Bool.random(using: &random) ? "before" : nil)
        for _ in 0..<Int.random(in: 1...300, using: &random) {
            let gap = Int64(1) << Int64.random(in: 0...40, using: &random)
            // A clock that is set back takes no time.
            now += Int.random(in: 0..<10, using: &random) == 0 ? 0 : gap
            let noisy = now - (Int.random(in: 0..<20, using: &random) == 0 && !model.isEmpty ? 5_000 : 0)
            let cause = try #require(causes.randomElement(using: &random))
            let actor = try #require(JourneyActor.allCases.randomElement(using: &random))
            let next = Int.random(in: 0..<8, using: &random) == 0 ? nil : names.randomElement(using: &random)
            history = .adding(cause, by: actor, from: screen, to: next, at: noisy, after: history)
            let isByItself = [StepCause.Kind.timer, .rule, .version].contains(cause.kind)
            model.append(
                Noted(
                    cause: cause.kind, event: cause.event, from: screen, to: next, actor: isByItself ? .time : actor,
                    time: max(model.last?.time ?? noisy, noisy)))
            screen = next
            if Bool.random(using: &random) { history = try stored(try #require(history)) }
            #expect(noted(history) == Array(model.suffix(JourneyHistory.mostShown)), "seed \(seed)")
        }
    }

    @Test("a step takes some four bytes, and all of them so few that a journey stays in the row of its session")
    func size() throws {
        var history: JourneyHistory?
        var now: Int64 = 0
        for number in 0..<1_000 {
            now += 30_000
            history = .adding(
                .event(number % 3 == 0 ? "back" : "next"), by: .client, from: nil, to: "page\(number % 7)", at: now,
                after: history)
            #expect((history?.size ?? .max) < 400)
        }
        var json = JSONWriter()
        let last = try #require(history)
        last.write(to: &json)
        #expect(json.bytes.count <= last.size)
    }

    @Test(
        "what is not of the form shows what was before it, and the next step is noted",
        arguments: ["", "#", "##", "###", "\\", "~~~~~~~~~~~~~~~~~~~~", "(##~", "\u{7F}", "é", "(($ é", "|||||"])
    func damaged(text: String) throws {
        let sound: JourneyHistory = .adding(.event("go"), by: .client, from: "a", to: "b", at: 7, after: nil)
        let members = try #require(sound.document.elements)
        let kept = try #require(members.last?.string)
        let odd = JSONDocument(Array(members.dropLast()) + [JSONDocument(kept + text)])
        let kinds = JSONDocument([
            members[0], JSONDocument("\(members[1].string ?? "")\(text)"), "a", JSONDocument(kept),
        ])
        #expect(noted(JourneyHistory(kinds)).count == 1)
        let read = try #require(JourneyHistory(odd))
        #expect(noted(read).first?.event == "go")
        let next = noted(.adding(.navigation, by: .admin, from: nil, to: "c", at: 9, after: read)).last
        #expect(next?.cause == .navigation && next?.to == "c" && next?.actor == .admin)
        for other: JSONDocument in [[], ["x"], [1], 7, ["1", "2", "3"], [1, "2"], .null] {
            #expect(JourneyHistory(other) == nil)
        }
        #expect(noted(JourneyHistory([.init(Int.max), members[1], "x", JSONDocument(kept)])).count == 1)
    }

    @Test("a journey that an earlier version has stored has none before its next step; all else is read in any order")
    func earlier() async throws {
        let fixture = try SessionsFixture(flows: [Flows.wizard])
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "wizard").view.id
        let coordinator = try fixture.service("coordinator")
        let bytes = try #require(try session.pendingState().document(of: coordinator)?.bytes)
        let document = try JSONDocument(parsing: bytes)
        #expect(document[member: "histories"]?.count == 1)
        // As it was stored before, as it comes through other hands, and with a list that fits nothing.
        let journeys = try #require(document[member: "journeys"])
        let former = try KeptJourneys(reading: JSONDocument(members: [("journeys", journeys)]).serialized())
        #expect(former[id]?.history == nil && former[id]?.journey.step == 1)
        let shuffled = try KeptJourneys(
            reading: JSONDocument(members: [
                ("histories", document[member: "histories"] ?? .null), ("journeys", journeys),
            ]).serialized())
        #expect(noted(shuffled[id]?.history).map(\.to) == ["start"])
        for odd: JSONDocument in [[], [[], []], 7, [["x", "y"]]] {
            let read = try KeptJourneys(
                reading: JSONDocument(members: [("journeys", journeys), ("histories", odd)]).serialized())
            #expect(read[id] != nil && read[id]?.history == nil)
        }
        #expect(try KeptJourneys(reading: bytes).bytes(former: 0) == bytes)
    }

    @Test("what happens by itself is time's; a look does not note what was only dated anew")
    func time() async throws {
        let flow = """
            {"id": "clock", "version": 1, "initial": "a",
             "states": {"a": {"timeout": {"after": "10s", "target": "b"}, "on": {"next": {"target": "b"}}},
                        "b": {"always": [{"guard": {"has": "/profile/email"}, "target": "c"}], "on": {"end": {"target": "z"}}},
                        "c": {"on": {"end": {"target": "z"}}}, "z": {"type": "final"}}}
            """
        let fixture = try SessionsFixture(flows: [flow])
        let session = try await fixture.session()
        let id = try await session.startJourney(flow: "clock").view.id
        fixture.clock.advance(10_000)
        _ = try await session.journey(id)
        try await fixture.perform(.mergePatch(["email": "a@example.org"]), on: "profile", session)
        _ = try await session.journey(id)
        _ = try await session.journey(id)
        let steps = try await session.history(ofJourney: id)
        #expect(steps.map(\.cause) == [.start, .timer, .rule])
        #expect(steps.map(\.actor) == [.client, .time, .time])
        #expect(steps.map(\.to) == ["a", "b", "c"])
        _ = try await session.send("end", toJourney: id)
        #expect(try await session.history(ofJourney: id).last?.to == nil)
        await #expect(throws: JourneyError.self) { try await session.history(ofJourney: "nope") }
    }
}
