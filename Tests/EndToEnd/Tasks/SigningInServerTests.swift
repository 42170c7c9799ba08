import Glibc
import HTTPTestClient
import JSONDocument
import RedisTestServer
import Support
import Testing

@Suite("Signing in from a flow, with programs that are killed and that share their sessions")
struct SigningInServerTests {
    private static func start(_ store: String, in folder: String) async throws -> ServingProgram {
        try await ServingProgram([
            "--store", store, "--flows", "\(folder)/flows", "--services", "config/services", "--set", "store_grace=0s",
        ])
    }

    /// Up to the result that signs in.
    private static func signIn(_ one: ServingProgram) async throws -> (token: String, journey: String) {
        let token = try await one.newToken()
        let client = one.client.with(token: token)
        let journey = try await client.start("enter")
        let sent = try await client.send(
            "POST", "\(journey)/events", json: #"{"event":"submit","challenge":"\#(SigningIn.challenge)"}"#)
        #expect(sent.status == 200)
        let task = try #require(try await one.admin.claim("check").first)
        #expect(try await one.admin.post("result", of: task, SigningIn.result()).status == 204)
        return (token, journey)
    }

    private static func exchange(_ server: ServingProgram, _ token: String) async throws -> TestResponse {
        try await server.client.with(token: token).send(
            "POST", Paths.tokens, json: SigningIn.verifying(SigningIn.verifier))
    }

    @Test("a kill between the sign-in and the exchange loses neither, and one after it gives the token to nobody again")
    func killed() async throws {
        try await withFolder(["flows/enter.json": SigningIn.flow]) { _, folder in
            let store = "sqlite:\(folder)/sessions.db"
            let first = try await Self.start(store, in: folder)
            let (token, journey) = try await Self.signIn(first)
            first.process.send(SIGKILL)
            _ = try await first.process.result()
            let second = try await Self.start(store, in: folder)
            #expect(try await second.client.with(token: token).get(Paths.current).status == 401)
            let exchanged = try await Self.exchange(second, token)
            let fresh = try #require(exchanged[member: "token"]?.string, "\(exchanged.text)")
            second.process.send(SIGKILL)
            _ = try await second.process.result()
            let third = try await Self.start(store, in: folder)
            #expect(try await Self.exchange(third, token).status == 401)
            let home = try await third.client.with(token: fresh).get(journey)
            #expect(home.screen == "home" && home.shown("user")?[string: "id"] == "ada")
            try await third.end()
        }
    }

    @Test("the exchange is any server's that shares the store, and once for all of them")
    func shared() async throws {
        try await withFolder(["flows/enter.json": SigningIn.flow]) { _, folder in
            let redis = try RedisTestServer()
            let store = "redis://127.0.0.1:\(redis.port)"
            let (one, two) = (try await Self.start(store, in: folder), try await Self.start(store, in: folder))
            let (token, journey) = try await Self.signIn(one)
            let clients = [one.client.with(token: token), two.client.with(token: token)]
            for client in clients { #expect(try await client.get(Paths.current).status == 401) }
            let answers = [try await Self.exchange(two, token), try await Self.exchange(one, token)]
            #expect(answers.map(\.status) == [201, 401])
            let fresh = try #require(answers[0][member: "token"]?.string)
            for server in [one, two] {
                #expect(try await server.client.with(token: fresh).get(journey).screen == "home")
            }
            for client in clients { #expect(try await client.get(Paths.current).status == 401) }
            for server in [one, two] {
                #expect(try await server.client.with(token: fresh).get(journey).screen == "home")
            }
            for server in [one, two] { try await server.end() }
        }
    }
}
