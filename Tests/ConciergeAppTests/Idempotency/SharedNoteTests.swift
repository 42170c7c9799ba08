import HTTPServer
import Synchronization
import Testing

@testable import ConciergeApp
@testable import Sessions

@Suite("Idempotency keys of servers that share their responses")
struct SharedNoteTests {
    /// Notes in memory, which fail when they are told to.
    private final class Notes: SharedNotes {
        private let state = Mutex<(notes: [SHA256Digest: [UInt8]], isFailing: Bool)>(([:], false))

        var count: Int { state.withLock { $0.notes.count } }

        /// The next notes are made, and the caller is told that they may not have been.
        func fail(_ isFailing: Bool) { state.withLock { $0.isFailing = isFailing } }

        /// Their time is over.
        func runOut() { state.withLock { $0.notes = [:] } }

        func note(_ note: [UInt8], of key: SHA256Digest, for time: Int64) async throws(SessionError) -> [UInt8]? {
            try state.withLock { state throws(SessionError) in
                if let found = state.notes[key] { return found }
                state.notes[key] = note
                if state.isFailing { throw .storeUnavailable(reason: "cut") }
                return nil
            }
        }

        func replace(_ key: SHA256Digest, with note: [UInt8], for time: Int64) {
            change(key, Array(note.prefix(SharedNoteMark.length))) { $0 = note }
        }

        func drop(_ key: SHA256Digest, of mark: [UInt8]) { change(key, mark) { $0 = nil } }

        private func change(_ key: SHA256Digest, _ mark: [UInt8], _ body: (inout [UInt8]?) -> Void) {
            state.withLock { state in
                if state.notes[key].map({ $0.starts(with: mark) }) != false { body(&state.notes[key]) }
            }
        }
    }

    private let notes = Notes()

    private func store(entries: Int = 100) -> IdempotencyStore {
        var limits = IdempotencyStore.Limits()
        limits.entries = entries
        return IdempotencyStore(limits: limits, clock: StandingClock(), notes: notes)
    }

    private func decide(_ text: String, _ store: IdempotencyStore) async throws -> IdempotencyStore.Decision {
        let key = try #require(IdempotencyKey(Array(text.utf8)))
        let decision = store.begin(
            scope: .peer("ada"), key: key, fingerprint: try IdempotencyFingerprint(of: makeRequest()), of: 0)
        guard case .proceed(let ticket) = decision else { return decision }
        return try await store.claim(ticket)
    }

    private func ticket(_ text: String, _ store: IdempotencyStore) async throws -> IdempotencyStore.Ticket {
        guard case .proceed(let ticket) = try await decide(text, store) else { throw Refused() }
        return ticket
    }

    private struct Refused: Error {}

    private func replay(_ text: String, _ store: IdempotencyStore) async throws -> String? {
        guard case .replay(let response) = try await decide(text, store) else { return nil }
        return response.text
    }

    @Test("a server replays what another has executed, and waits while it does")
    func replays() async throws {
        let (one, two) = (store(), store())
        let ticket = try await ticket("k", one)
        guard case .inProgress = try await decide("k", two) else { throw Refused() }
        one.finish(ticket, HTTPResponse(text: "made"))
        #expect(try await replay("k", two) == "made")
    }

    @Test("a request that takes longer than its note lasts leaves that of another server alone")
    func owner() async throws {
        let (one, two) = (store(), store())
        let (slow, abandoned) = (try await ticket("k", one), try await ticket("l", one))
        notes.runOut()
        let (fast, other) = (try await ticket("k", two), try await ticket("l", two))
        one.finish(slow, HTTPResponse(text: "slow"))
        one.abandon(abandoned)
        let third = store()
        for key in ["k", "l"] {
            guard case .inProgress = try await decide(key, third) else { throw Refused() }
        }
        two.finish(fast, HTTPResponse(text: "fast"))
        two.finish(other, HTTPResponse(text: "other"))
        #expect(try await replay("k", third) == "fast")
        #expect(try await replay("l", third) == "other")
    }

    @Test("a request that may have been noted, and was not executed, may be sent again at once")
    func unknown() async throws {
        let (one, two) = (store(), store())
        notes.fail(true)
        await #expect(throws: SessionError.self) { try await decide("k", one) }
        notes.fail(false)
        two.finish(try await ticket("k", two), HTTPResponse(text: "made"))
        #expect(try await replay("k", one) == "made")
    }

    @Test("a server keeps no more responses for others than for itself")
    func bound() async throws {
        let (one, two) = (store(entries: 3), store())
        for number in 0..<10 { one.finish(try await ticket("\(number)", one), HTTPResponse(text: "\(number)")) }
        #expect(notes.count == 3)
        #expect(try await replay("9", two) == "9")
        #expect(try await replay("6", two) == nil)
        // A response that is not kept leaves nothing.
        one.finish(try await ticket("x", one), HTTPResponse(.tooManyRequests))
        #expect(notes.count == 4)
    }
}
