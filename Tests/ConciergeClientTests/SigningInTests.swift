import Foundation
import Support
import Synchronization
import Testing

@testable import ConciergeClient

@Suite("Signing in from a flow, by ConciergeClient", .timeLimit(.minutes(1)))
struct SigningInTests {
    private static let signIn = #"{"outcome":"ok","sign_in":{"user_id":"ada","claims":{"name":"Ada"}}}"#

    @Test(
        "the challenge is the SHA-256 of the verifier",
        arguments: [
            ("dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"),
            ("", "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU"),
            ("abc", "ungWv48Bz-pBQUDeXa4iI7ADYaOWF3qctBD_YfIAFa0"),
        ])
    func challenge(verifier: String, challenge: String) {
        #expect(Verifier(text: verifier).challenge == challenge)
    }

    @Test("a digest of any length is that of the reference", arguments: [55, 56, 63, 64, 65, 119, 120, 1_000])
    func digests(length: Int) throws {
        // Of as many letters `a`, by sha256sum.
        let known = [
            55: "9f4390f8d30c2dd92ec9f095b65e2b9ae9b0a925a5258e241c9f1e910f734318",
            56: "b35439a4ac6f0948b6d6f9e3c6af0f5f590ce20f1bde7090ef7970686ec6738a",
            63: "7d3e74a05d7db15bce4ad9ec0658ea98e3f06eeecf16b4c6fff2da457ddc2f34",
            64: "ffe054fe7ae0cb6dc65c3af9b61d5209f439851db43d0ba5997337df154668eb",
            65: "635361c48bb9eab14198e76ea8ab7f1a41685d6ad62aa9146d301d4f17eb0ae0",
            119: "31eba51c313a5c08226adf18d4a359cfdfd8d2e816b13f4af952f7ea6584dcfb",
            120: "2f3d335432c70b580af0e8e1b3674a7c020d683aa5f73aaaedfdc55af904c21c",
            1_000: "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3",
        ]
        let digest = SHA256.digest(of: Array(repeating: UInt8(ascii: "a"), count: length))
        #expect(digest.map { String(format: "%02x", $0) }.joined() == known[length])
        #expect(Set((0..<100).map { _ in Verifier().text }).count == 100)
        #expect(Verifier().text.count == 43)
    }

    @Test("the shipped flow is finished, with a new token that is saved, and the states go on")
    func login() async throws {
        final class Saved: Sendable { let tokens = Mutex<[String]>([]) }
        try await withServer { url, app in
            let saved = Saved()
            let session = try await Session.open(at: url) { token in saved.tokens.withLock { $0.append(token) } }
            let profile = session.service("profile", of: Profile.self)
            try await profile.put(Profile(name: "Ada", email: nil))
            let old = session.token
            let journey = try await session.start("login")
            let watching = Task {
                var last: Journey.State?
                for try await state in journey.states { last = state }
                return last
            }
            try await journey.send("submit", ["name": "ada", "password": "right"])
            try await app.endTask("check-password", #"{"outcome":"ok"}"#)
            try await app.endTask("send-code", #"{"outcome":"sent"}"#)
            try await journey.get()
            #expect(journey.state?.screen?.id == "code")
            try await journey.send("submit", ["code": "184300"])
            #expect(try await app.endTask("check-code", Self.signIn) == 204)
            #expect(try await session.info().userID == "ada")
            #expect(try await journey.get().status == "finished")
            #expect(try await watching.value?.outcome == "signed_in")
            #expect(session.token != old && !session.hasEnded)
            #expect(saved.tokens.withLock { $0 } == [old, session.token])
            #expect(try await profile.get().name == "Ada")
            // The next sign-in has a proof of its own.
            let again = try await session.start("login")
            try await again.send("submit", ["name": "ada", "password": "right"])
            #expect(try await app.endTask("check-password", Self.signIn) == 204)
            #expect(try await again.get().screen?.id == "sending_code")
            #expect(saved.tokens.withLock(\.count) == 3)
        }
    }

    @Test("many requests at once after a sign-in exchange the token once")
    func atOnce() async throws {
        try await withServer { url, app in
            let session = try await Session.open(at: url)
            let journey = try await session.start("login")
            try await journey.send("submit", ["name": "ada", "password": "right"])
            try await app.endTask("check-password", Self.signIn)
            try await withThrowingTaskGroup { group in
                for _ in 0..<8 { group.addTask { _ = try await session.info() } }
                try await group.waitForAll()
            }
            #expect(!session.hasEnded)
        }
    }

    @Test("a back end that hands the token over itself, and a session that has ended, are as before")
    func handedOver() async throws {
        try await withServer { url, app in
            let session = try await Session.open(at: url)
            try await session.start("wizard").send("sign_in", ["name": "Ada"])
            session.token = try await app.signIn("ada", to: try await session.info().id)
            #expect(try await session.info().userID == "ada")
            try await session.end()
            await #expect(throws: Problem.self) { try await session.info() }
            #expect(session.hasEnded)
        }
    }
}
