import HTTPTestClient
import Testing

@testable import HTTPServer

/// `ExchangeState` over every order in which its events can come.
@Suite("The hand-over between a handler and its connection")
struct ExchangeStateTests {
    enum Event: CaseIterable { case finish, end, suspended }

    /// Every order of the events behind `leave`, with repetitions left out.
    static let orders: [[Event]] = {
        var all: [[Event]] = [[]]
        for event in Event.allCases {
            all = all.flatMap { order in
                [order] + (0...order.count).map { Array(order[..<$0]) + [event] + Array(order[$0...]) }
            }
        }
        return all
    }()

    private static func response(_ text: String) -> HTTPResponse { HTTPResponse(text: text) }
    private static func text(_ response: HTTPResponse?) -> String? {
        response.map { String(decoding: $0.body, as: UTF8.self) }
    }

    @Test("answers at once when the handler finished at once, and never resumes")
    func atOnce() {
        var state = ExchangeState()
        let resume = state.finish(Self.response("handler"))
        #expect(!resume)
        let answer = state.leave()
        #expect(Self.text(answer) == "handler")
        expectOver(&state)
    }

    /// Nothing resumes or answers any more.
    private func expectOver(_ state: inout ExchangeState) {
        let resume = state.finish(Self.response("late"))
        #expect(!resume)
        let answer = state.resumed()
        #expect(Self.text(answer) == nil)
    }

    @Test("resumes exactly once, whatever the order, if and only if it is suspended and answered", arguments: orders)
    func everyOrder(_ order: [Event]) {
        var state = ExchangeState()
        let atOnce = state.leave()
        #expect(Self.text(atOnce) == nil)
        var resumes = 0
        var isSuspended = false
        var first: Event?
        for event in order {
            let resume: Bool
            switch event {
            case .finish: resume = state.finish(Self.response("handler"))
            case .end: resume = state.finish(Self.response("deadline"))
            case .suspended:
                resume = state.suspended()
                isSuspended = true
            }
            if event != .suspended, first == nil { first = event }
            if resume {
                resumes += 1
                #expect(isSuspended, "resumed before it was suspended")
            }
        }
        let isAnswered = first != nil
        #expect(resumes == (isSuspended && isAnswered ? 1 : 0))
        if resumes == 1 {
            // The first answer counts, and is given once.
            let answer = state.resumed()
            #expect(Self.text(answer) == (first == .finish ? "handler" : "deadline"))
            expectOver(&state)
        }
    }

    @Test("never resumes what was abandoned", arguments: orders)
    func abandoned(_ order: [Event]) {
        var state = ExchangeState()
        let atOnce = state.leave()
        #expect(Self.text(atOnce) == nil)
        for event in order where event == .suspended {
            let resume = state.suspended()
            #expect(!resume)
        }
        state.abandon()
        expectOver(&state)
    }
}
