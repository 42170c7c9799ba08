import Sessions
import Testing

@testable import ConciergeApp
@testable import HTTPServer

@Suite("Remembered answers")
struct IdempotencyStoreTests {
    private static let token = "cg_9mJq0uP5v2XwYb7cLhT3zR8sKd1fGe4A"

    private func limits(_ change: (inout IdempotencyStore.Limits) -> Void) -> IdempotencyStore.Limits {
        var limits = IdempotencyStore.Limits()
        change(&limits)
        return limits
    }

    /// Which of the keys are replayed, without doing any of them anew.
    private func remembered(_ keys: [String], in store: IdempotencyStore) throws -> [String] {
        try keys.filter { text in
            let key = try #require(IdempotencyKey(Array(text.utf8)))
            let decision = store.begin(
                scope: .peer("ada"), key: key, fingerprint: try IdempotencyFingerprint(of: makeRequest()), of: 0)
            switch decision {
            case .proceed(let ticket):
                store.abandon(ticket)
                return false
            case .replay: return true
            case .mismatch, .inProgress:
                Issue.record("\(text) is neither remembered nor new")
                return false
            }
        }
    }

    @Test("they expire when their time is over, and not before")
    func expiry() async throws {
        let place = IdempotentPlace(limits: limits { $0.retention = .seconds(60) })
        _ = try await place.post("k")
        place.clock.advance(59_999)
        #expect(try await place.post("k").isReplayed)
        place.clock.advance(1)
        // Another payload: the key is free, not only the answer gone.
        #expect(try await !place.post("k", body: "[]").isReplayed)
        place.clock.advance(59_999)
        #expect(try await place.post("k", body: "[]").isReplayed)
    }

    @Test("the time runs from the answer")
    func expiryAfterLongWork() async throws {
        let gate = Gate()
        let place = IdempotentPlace(limits: limits { $0.retention = .seconds(60) }) { _ in
            await gate.pass()
            return HTTPResponse(text: "made")
        }
        async let first = place.post("k")
        await gate.visit()
        place.clock.advance(120_000)
        gate.open()
        _ = try await first
        place.clock.advance(59_999)
        #expect(try await place.post("k").isReplayed)
    }

    @Test("expired ones leave room, also when nobody asks for them again")
    func expiredAreDropped() async throws {
        let place = IdempotentPlace()
        for number in 0..<3_000 { _ = try await place.post("k\(number)") }
        #expect(place.store.count == 3_000)
        place.clock.advance(24 * 3_600_000)
        // Its turn to be dropped has not come, but it is over all the same.
        #expect(try await !place.post("k2999").isReplayed)
        _ = try await place.post("new")
        #expect(place.store.count < 3_000)
        for _ in 0..<4 { place.store.dropExpired() }
        #expect(place.store.count == 2)
        #expect(try remembered(["k0", "k2998", "k2999", "new"], in: place.store) == ["k2999", "new"])
    }

    @Test("with too many of them the oldest go")
    func entryBound() async throws {
        let place = IdempotentPlace(limits: limits { $0.entries = 3 })
        for key in ["a", "b", "c", "d", "e"] { _ = try await place.post(key) }
        #expect(place.store.count == 3)
        #expect(try remembered(["a", "b", "c", "d", "e"], in: place.store) == ["c", "d", "e"])
    }

    @Test("who has many makes room for others, and pushes nothing of theirs out", arguments: [true, false])
    func shares(byBytes: Bool) async throws {
        let store = IdempotencyStore(
            limits: limits { if byBytes { $0.bytes = 100_000 } else { $0.entries = 100 } }, clock: StandingClock())
        func begin(_ text: String, of network: UInt64) throws -> IdempotencyStore.Decision {
            store.begin(
                scope: .peer("\(network)"), key: try #require(IdempotencyKey(Array(text.utf8))),
                fingerprint: try IdempotencyFingerprint(of: makeRequest()), of: network)
        }
        func keep(_ text: String, of network: UInt64, size: Int) throws {
            guard case .proceed(let ticket) = try begin(text, of: network) else {
                Issue.record("\(text) is not new")
                return
            }
            store.finish(ticket, HTTPResponse(body: [UInt8](repeating: 7, count: size)))
        }
        // Which networks have one share differs between processes; all ten have the flood's in none of 10^24.
        for network in 1...10 { try keep("k", of: UInt64(network), size: byBytes ? 10 : 60_000) }
        for number in 0..<1_000 { try keep("\(number)", of: 0, size: byBytes ? 1_000 : 10) }
        var kept = 0
        for network in 1...10 { if case .replay = try begin("k", of: UInt64(network)) { kept += 1 } }
        #expect(kept > 0)
        guard case .replay = try begin("999", of: 0), case .proceed = try begin("0", of: 0) else {
            Issue.record("the flood's own were not dropped in their order")
            return
        }
        #expect(byBytes ? store.bytes <= 100_000 : store.count <= 100)
    }

    @Test("with too many bytes the oldest go, and the count of bytes comes back to nothing")
    func byteBound() async throws {
        let place = IdempotentPlace(limits: limits { $0.bytes = 10_000 }) { _ in
            HTTPResponse(body: [UInt8](repeating: 7, count: 4_000))
        }
        for key in ["a", "b", "c"] { _ = try await place.post(key) }
        #expect(try remembered(["a", "b", "c"], in: place.store) == ["b", "c"])
        #expect((8_000...10_000).contains(place.store.bytes))
        place.clock.advance(24 * 3_600_000)
        place.store.dropExpired()
        #expect(place.store.bytes == 0 && place.store.count == 0)
    }

    @Test("one that is too long is not kept, and pushes nothing out")
    func longAnswer() async throws {
        let place = IdempotentPlace { request in
            HTTPResponse(body: [UInt8](repeating: 7, count: request.id.text == "long" ? 65_537 : 10))
        }
        _ = try await place.post("a")
        _ = try await place.post("b", id: "long")
        #expect(try remembered(["a", "b"], in: place.store) == ["a"])
    }

    @Test("what is being worked on is not dropped to make room")
    func workIsKept() async throws {
        let gate = Gate()
        let place = IdempotentPlace(limits: limits { $0.entries = 1 }) { request in
            if request.id.text == "slow" { await gate.pass() }
            return HTTPResponse(text: "made")
        }
        async let slow = place.post("slow", id: "slow")
        await gate.visit()
        for number in 0..<10 { _ = try await place.post("k\(number)") }
        await #expect(throws: HTTPError.self) { try await place.post("slow") }
        gate.open()
        _ = try await slow
        #expect(try remembered(["k9", "slow"], in: place.store) == ["slow"])
    }

    @Test("a ticket is good once: giving it back later touches nothing")
    func oldTicket() throws {
        let store = IdempotencyStore(clock: StandingClock())
        let key = try #require(IdempotencyKey(Array("k".utf8)))
        let fingerprint = try IdempotencyFingerprint(of: makeRequest())
        func begin() -> IdempotencyStore.Ticket? {
            if case .proceed(let ticket) = store.begin(scope: .administrator, key: key, fingerprint: fingerprint, of: 0)
            {
                return ticket
            }
            return nil
        }
        let old = try #require(begin())
        store.abandon(old)
        let new = try #require(begin())
        store.finish(old, HTTPResponse(text: "old"))
        store.abandon(old)
        #expect(begin() == nil && store.count == 0)
        store.finish(new, HTTPResponse(text: "new"))
        store.finish(new, HTTPResponse(text: "newer"))
        guard case .replay(let response) = store.begin(scope: .administrator, key: key, fingerprint: fingerprint, of: 0)
        else {
            Issue.record("not remembered")
            return
        }
        #expect(response.text == "new" && store.count == 1)
    }

    @Test("nothing of an answer, its key or its caller can be read where it lies")
    func unreadable() async throws {
        let place = IdempotentPlace { _ in
            var response = HTTPResponse(.created, text: "{\"token\": \"\(Self.token)\"}")
            response.fields.add(.setCookie, "concierge=\(Self.token)")
            response.fields.add(.location, "/v1/sessions/ses_1")
            return response
        }
        let key = "8e03978e-40d5-43dd-bc93-6894a57f9324"
        _ = try await place.post(key, caller: "2001:db8::17")
        let lying = place.store.memory.withLock { memory in
            memory.entries.flatMap { id, entry in
                id.withBytes { Array($0) } + (entry.response?.sealed.sealed ?? [])
            }
        }
        #expect(lying.count > 150)
        for secret in [Self.token, String(Self.token.prefix(8)), "Set-Cookie", "/v1/sessions", key, "2001:db8"] {
            #expect(lying.firstRange(of: Array(secret.utf8)) == nil, "\(secret) can be read")
        }
        #expect(try await place.post(key, caller: "2001:db8::17").text.contains(Self.token))
    }

    @Test("the same answer never looks the same twice")
    func nonces() async throws {
        let place = IdempotentPlace { _ in HTTPResponse(text: "made") }
        func lying() -> [[UInt8]] {
            place.store.memory.withLock { $0.entries.values.compactMap { $0.response?.sealed.sealed } }
        }
        _ = try await place.post("k")
        let first = lying()
        place.clock.advance(24 * 3_600_000)
        _ = try await place.post("k")
        #expect(first.count == 1 && lying().count == 1)
        #expect(first[0].prefix(12) != lying()[0].prefix(12))
        #expect(first != lying())
    }

    @Test("a damaged one is as if it were not there", arguments: [0, 11, 12, 30, -17, -16, -1])
    func damaged(place at: Int) async throws {
        let place = IdempotentPlace { HTTPResponse(text: "made \($0.id)") }
        _ = try await place.post("k", id: "one")
        place.store.memory.withLock { memory in
            for (id, entry) in memory.entries {
                guard var bytes = entry.response?.sealed.sealed else { continue }
                bytes[at < 0 ? bytes.count + at : at] ^= 1
                memory.entries[id]?.response?.sealed = SealedResponse(sealed: bytes)
            }
        }
        let again = try await place.post("k", id: "two")
        #expect(again.text == "made two" && !again.isReplayed)
        #expect(place.store.count == 1)
        #expect(try await place.post("k", id: "three").text == "made two")
    }

    @Test("a sealed answer opens for its own entry only, and not when it is cut")
    func sealing() throws {
        func digest(_ label: String) -> SHA256Digest { SHA256Digest(of: label.utf8) }
        let sealed = try #require(
            SealedResponse(
                HTTPResponse(text: "made"), atMost: 1_000, key: digest("key"), for: digest("entry"),
                random: SystemRandom()))
        #expect(sealed.opened(with: digest("key"), for: digest("entry"))?.text == "made")
        #expect(sealed.opened(with: digest("another"), for: digest("entry")) == nil)
        #expect(sealed.opened(with: digest("key"), for: digest("another")) == nil)
        for length in 0..<sealed.sealed.count {
            let cut = SealedResponse(sealed: Array(sealed.sealed.prefix(length)))
            #expect(cut.opened(with: digest("key"), for: digest("entry")) == nil)
        }
    }
}
