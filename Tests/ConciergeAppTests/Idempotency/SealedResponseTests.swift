import JSONDocument
import Sessions
import Testing

@testable import ConciergeApp
@testable import HTTPServer

@Suite("Kept responses")
struct SealedResponseTests {
    private static func digest(_ text: String) -> SHA256Digest { SHA256Digest(of: Array(text.utf8)) }

    @Test("nothing of a response, its key or its caller can be read where it is kept, and no two are alike")
    func unreadable() async throws {
        let place = try IdempotentPlace { _ in HTTPResponse(.created, text: "a secret of a response") }
        for key in ["the-first-key", "the-second-key"] { _ = try await place.post(key) }
        let session = try await place.session()
        var kept: [[UInt8]] = []
        for entry in session.replays {
            kept.append(try #require(try await place.store.replays.response(entry.id, of: session.id)))
        }
        #expect(kept.count == 2 && kept[0] != kept[1])
        for bytes in kept {
            for text in ["secret", "the-first-key", "the-second-key", "ada"] {
                #expect(!String(decoding: bytes, as: UTF8.self).contains(text))
            }
        }
    }

    @Test("it opens for its own entry and key only, and not when a bit has changed")
    func sealing() throws {
        let response = HTTPResponse(.created, fields: [.etag: "\"7\""], body: Array("body".utf8))
        let (key, id) = (Self.digest("key"), ShortDigest(Self.digest("id")))
        let secrets: [ResponseSecret?] = [nil, .token(Self.digest("token")), .link(Self.digest("link"))]
        for secret in secrets {
            let sealed = SealedResponse.seal(
                response, secret, atMost: 1_000, key: key, for: id, random: SystemRandom())
            let opened = try #require(SealedResponse(sealed, key: key, for: id))
            #expect(opened.response.status == .created && opened.response.text == "body" && opened.secret == secret)
            #expect(opened.response.lines == response.lines)
            #expect(SealedResponse(sealed, key: Self.digest("other"), for: id) == nil)
            #expect(SealedResponse(sealed, key: key, for: ShortDigest(Self.digest("other"))) == nil)
            #expect(SealedResponse(sealed.dropLast(), key: key, for: id) == nil)
            for place in sealed.indices {
                var damaged = sealed
                damaged[place] ^= 1
                #expect(SealedResponse(damaged, key: key, for: id) == nil)
            }
        }
        #expect(SealedResponse([], key: key, for: id) == nil)
    }

    @Test("a response that is too long is not kept, and its request is not executed again")
    func tooLong() async throws {
        var limits = Idempotency.Limits()
        limits.responseBytes = 100
        let place = try IdempotentPlace(limits: limits) { _ in
            HTTPResponse(text: String(repeating: "x", count: 200))
        }
        #expect(try await place.post("k").status == .ok)
        await #expect { try await place.post("k") } throws: {
            let error = $0 as? HTTPError
            return error?.status == .conflict && error?.code == "replay_expired"
        }
        #expect(place.done == 1)
    }

    @Test("after its time the key is free")
    func forgotten() async throws {
        let place = try IdempotentPlace()
        _ = try await place.post("k")
        place.clock.advance(.milliseconds(24 * 3_600_000 - 1))
        #expect(try await place.post("k").isReplayed)
        place.clock.advance(.milliseconds(1))
        #expect(try await !place.post("k").isReplayed)
        #expect(place.done == 2)
    }
}

@Suite("Fingerprints of requests")
struct IdempotencyFingerprintTests {
    private static func fingerprint(_ request: HTTPRequest) throws -> ShortDigest {
        try IdempotencyFingerprint.of(request, keptIn: .none)
    }

    @Test(
        "are of the JSON value, however it is written",
        arguments: [
            (#"{"a":1,"b":[1,2]}"#, #"{ "b": [1, 2], "a": 1 }"#), (#"{"a":1}"#, #"{"a":1.0}"#),
            (#"{"a":"\u00e9"}"#, #"{"a":"é"}"#), ("1e2", "100"),
        ])
    func equal(one: String, other: String) throws {
        #expect(
            try Self.fingerprint(makeRequest(body: one))
                == Self.fingerprint(makeRequest(type: "Application/JSON; charset=utf-8", body: other)))
    }

    @Test(
        "tell values apart",
        arguments: [
            (#"{"a":1}"#, #"{"a":2}"#), (#"{"a":1}"#, #"{"b":1}"#), ("[1,2]", "[2,1]"), ("[[],[]]", "[[[]]]"),
            (#"["ab","c"]"#, #"["a","bc"]"#), (#"{"a":null}"#, "{}"), ("1", #""1""#), ("true", "false"), ("", "{}"),
            ("1.5", "1.6"), ("not json", "not  json"), ("18446744073709551615", "18446744073709551614"),
        ])
    func different(one: String, other: String) throws {
        #expect(
            try Self.fingerprint(makeRequest(body: one)) != Self.fingerprint(makeRequest(body: other)))
    }
}
