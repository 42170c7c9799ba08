import Testing

/// Tests the judge with small histories, of which a reader can see whether they are possible.
@Suite("The judge of histories")
struct HistoryTests {
    private static func put(
        _ number: Int, _ outcome: SentRequest.Outcome, client: Int = 0, _ service: SessionState.Service = .left,
        from sent: Int, to answered: Int
    ) -> SentRequest {
        SentRequest(
            client: client, action: .put(service, number), outcome: outcome, sentAt: sent, answeredAt: answered)
    }

    private static func state(left: (Int, Int?)? = nil, right: (Int, Int?)? = nil, revision: Int) -> SessionState {
        var state = SessionState()
        if let left { state[.left] = .init(write: left.0, etag: left.1) }
        if let right { state[.right] = .init(write: right.0, etag: right.1) }
        state.revision = revision
        return state
    }

    private static func moved(to step: Int) -> SessionState {
        var state = SessionState()
        (state.step, state.isThere, state.revision) = (step, true, 1)
        state[.trail] = SessionState.Content(write: 7)
        return state
    }

    private static let ended: SessionState = {
        var state = SessionState()
        state.isEnded = true
        return state
    }()

    struct Case: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let requests: [SentRequest]
        let found: SessionState
        let isPossible: Bool
    }

    static let cases = [
        Case(
            testDescription: "nothing happened", requests: [], found: SessionState(), isPossible: true),
        Case(
            testDescription: "an acknowledged write is there",
            requests: [put(7, .acknowledged(3), from: 1, to: 2)], found: state(left: (7, 3), revision: 3),
            isPossible: true),
        Case(
            testDescription: "an acknowledged write is lost",
            requests: [put(7, .acknowledged(3), from: 1, to: 2)], found: SessionState(), isPossible: false),
        Case(
            testDescription: "a write without a response is not there",
            requests: [put(7, .unknown, from: 1, to: .max)], found: SessionState(), isPossible: true),
        Case(
            testDescription: "a write without a response is there",
            requests: [put(7, .unknown, from: 1, to: .max)], found: state(left: (7, 1), revision: 1),
            isPossible: true),
        Case(
            testDescription: "an earlier write is there instead of a later one",
            requests: [put(7, .acknowledged(1), from: 1, to: 2), put(8, .acknowledged(2), from: 3, to: 4)],
            found: state(left: (7, 1), revision: 2), isPossible: false),
        Case(
            testDescription: "of two at once the one with the later tag is there",
            requests: [
                put(7, .acknowledged(2), from: 1, to: 4), put(8, .acknowledged(1), client: 1, from: 2, to: 3),
            ], found: state(left: (7, 2), revision: 2), isPossible: true),
        Case(
            testDescription: "of two at once the one with the earlier tag is there",
            requests: [
                put(7, .acknowledged(2), from: 1, to: 4), put(8, .acknowledged(1), client: 1, from: 2, to: 3),
            ], found: state(left: (8, 1), revision: 2), isPossible: false),
        Case(
            testDescription: "a tag goes back",
            requests: [put(7, .acknowledged(5), from: 1, to: 2), put(8, .acknowledged(4), .right, from: 3, to: 4)],
            found: state(left: (7, 5), right: (8, 4), revision: 5), isPossible: false),
        Case(
            testDescription: "the revision goes back",
            requests: [put(7, .acknowledged(5), from: 1, to: 2)], found: state(left: (7, 5), revision: 4),
            isPossible: false),
        Case(
            testDescription: "half a transaction is there",
            requests: [
                SentRequest(client: 0, action: .both(7), outcome: .unknown, sentAt: 1, answeredAt: .max)
            ], found: state(left: (7, 1), revision: 1), isPossible: false),
        Case(
            testDescription: "a step without what it wrote",
            requests: [
                SentRequest(client: 0, action: .move(7), outcome: .unknown, sentAt: 1, answeredAt: .max)
            ],
            found: {
                var state = SessionState()
                (state.step, state.isThere, state.revision) = (1, true, 1)
                return state
            }(), isPossible: false),
        Case(
            testDescription: "the restart raised the step, and the next move continued from there",
            requests: [
                SentRequest(client: 0, action: .move(7), outcome: .acknowledged(1 << 22), sentAt: 1, answeredAt: 2)
            ], found: moved(to: 1 << 22), isPossible: true),
        Case(
            testDescription: "a response has a step that is not the next",
            requests: [
                SentRequest(client: 0, action: .move(7), outcome: .acknowledged(2), sentAt: 1, answeredAt: 2)
            ], found: moved(to: 2), isPossible: false),
        Case(
            testDescription: "a read shows a write that is not there afterwards",
            requests: [
                put(7, .unknown, from: 1, to: .max),
                SentRequest(
                    client: 1, action: .read(.left), outcome: .shown(.init(write: 7, etag: 1)), sentAt: 2, answeredAt: 3
                ),
            ], found: SessionState(), isPossible: false),
        Case(
            testDescription: "an ended session is there again",
            requests: [
                SentRequest(client: 0, action: .end, outcome: .acknowledged(nil), sentAt: 1, answeredAt: 2)
            ], found: state(revision: 1), isPossible: false),
        Case(
            testDescription: "a client learned of an end that did not happen, and had no response",
            requests: [
                SentRequest(client: 0, action: .end, outcome: .unknown, sentAt: 1, answeredAt: .max),
                SentRequest(client: 1, action: .read(.left), outcome: .sessionEnded, sentAt: 2, answeredAt: 3),
            ], found: state(revision: 1), isPossible: false),
        Case(
            testDescription: "a client learned of an end that had no response, and it happened",
            requests: [
                SentRequest(client: 0, action: .end, outcome: .unknown, sentAt: 1, answeredAt: .max),
                SentRequest(client: 1, action: .read(.left), outcome: .sessionEnded, sentAt: 2, answeredAt: 3),
            ], found: ended, isPossible: true),
        Case(
            testDescription: "a session is used after its token was used again",
            requests: [
                SentRequest(client: 0, action: .rotate, outcome: .acknowledged(nil), sentAt: 1, answeredAt: 2),
                SentRequest(client: 0, action: .reuse, outcome: .acknowledged(nil), sentAt: 3, answeredAt: 4),
                put(7, .acknowledged(3), client: 1, from: 5, to: 6),
            ], found: ended, isPossible: false),
        Case(
            testDescription: "a session is gone that no client ended",
            requests: [put(7, .acknowledged(1), from: 1, to: 2)],
            found: ended, isPossible: false),
        Case(
            testDescription: "an end without a response that happened",
            requests: [SentRequest(client: 0, action: .end, outcome: .unknown, sentAt: 1, answeredAt: .max)],
            found: ended, isPossible: true),
    ]

    @Test("knows what is possible", arguments: cases)
    func judges(_ example: Case) {
        let history = History(start: SessionState(), requests: example.requests, found: example.found)
        #expect(history.isPossible() == example.isPossible)
        #expect((history.violation() == nil) == example.isPossible)
    }

    @Test("shows only the requests of a long history that cannot be explained")
    func shortest() throws {
        var requests = (1...60).map {
            Self.put($0, .acknowledged($0), $0.isMultiple(of: 2) ? .left : .right, from: 2 * $0, to: 2 * $0 + 1)
        }
        requests.append(Self.put(61, .unknown, client: 1, from: 30, to: .max))
        let history = History(
            start: SessionState(), requests: requests, found: Self.state(left: (58, 58), right: (59, 59), revision: 60))
        let text = try #require(history.violation())
        #expect(text.contains("put(Durability.SessionState.Service.left, 60)"))
        #expect(text.split(separator: "\n").count { $0.contains("client") } == 1, "\(text)")
    }
}
