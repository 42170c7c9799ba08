import Glibc
import HTTPTestClient
import RedisStorage
import RedisTestServer
import Support
import Testing

@testable import Sessions

/// Stores with a `redis-server` that speaks TLS, and the certificates of `withCertificates`.
@Suite("TLS to Redis")
struct RedisTLSTests {
    /// A Redis with that certificate.
    private struct Fixture {
        let redis: RedisTestServer
        let port: UInt16
        let folder: String

        init(_ folder: String, _ certificate: String, _ options: [String] = ["--tls-auth-clients", "no"]) throws {
            self.folder = folder
            port = try RedisTestServer.freePort()
            redis = try RedisTestServer(
                [
                    "--tls-port", "\(port)", "--tls-cert-file", "\(folder)/\(certificate).pem", "--tls-key-file",
                    "\(folder)/\(certificate).key", "--tls-ca-cert-file", "\(folder)/clients.pem",
                ] + options)
        }

        func store(
            at host: String = "localhost", authorities: String? = "root", certificate: String? = nil
        ) throws -> RedisStore {
            var address = try RedisAddress("rediss://\(host):\(port)")
            address.tls?.authorities = authorities.map { "\(folder)/\($0).pem" }
            address.tls?.certificate = certificate.map { "\(folder)/\($0).pem" }
            address.tls?.key = certificate.map { "\(folder)/\($0).key" }
            return try RedisStore(address, services: ["profile"])
        }
    }

    private let id = SessionID(random: SystemRandom())

    /// Why a store does not work; "" when it does.
    private func trouble(of store: RedisStore) async -> String {
        do throws(StoreError) {
            _ = try await store.standing(of: id)
            return ""
        } catch {
            return "\(error)"
        }
    }

    @Test(
        "a certificate counts if an authority has signed it, for this host, and for now",
        arguments: [
            ("a", "localhost", "root", ""), ("a", "127.0.0.1", "root", ""), ("lonely", "localhost", "lonely", ""),
            ("lonely", "localhost", "root", "/CN=lonely is refused, self-signed certificate: name the file"),
            ("a", "localhost", "stranger", "/CN=inner is refused, unable to get local issuer certificate: name"),
            ("a", "localhost", nil, "/CN=inner is refused, unable to get local issuer certificate: name"),
            ("elsewhere", "localhost", "root", "/CN=elsewhere is refused, hostname mismatch: it is not for localhost"),
            ("elsewhere", "127.0.0.1", "root", "/CN=elsewhere is refused, IP address mismatch: it is not for 127"),
            ("old", "localhost", "root", "/CN=old is refused, certificate has expired"),
        ] as [(String, String, String?, String)])
    func certificates(certificate: String, host: String, authorities: String?, reason: String) async throws {
        try await withCertificates { folder in
            let fixture = try Fixture(folder, certificate)
            let store = try fixture.store(at: host, authorities: authorities)
            let trouble = await trouble(of: store)
            #expect(reason.isEmpty ? trouble.isEmpty : trouble.contains(reason), "\(trouble)")
            await store.close()
        }
    }

    @Test(
        "Redis may want a certificate, which may come later; without one the reason is told",
        arguments: [
            ("TLSv1.2", "handshake failure: does Redis want"),
            // When Redis resets the connection, what it has said may be lost.
            ("TLSv1.3", "does Redis want"),
        ])
    func mutual(version: String, reason: String) async throws {
        try await withCertificates { folder in
            let fixture = try Fixture(folder, "a", ["--tls-auth-clients", "yes", "--tls-protocols", version])
            let without = try fixture.store()
            let trouble = await trouble(of: without)
            #expect(trouble.contains(reason), "\(trouble)")
            await without.close()
            func use(_ name: String) throws {
                for kind in ["pem", "key"] {
                    let link = "\(folder)/own.\(kind)"
                    unlink(link)
                    try #require(symlink("\(folder)/\(name).\(kind)", link) == 0)
                }
            }
            try use("stranger")
            let store = try fixture.store(certificate: "own")
            #expect(await !self.trouble(of: store).isEmpty)
            try use("ada")
            let start = ContinuousClock.now
            while await !self.trouble(of: store).isEmpty { try #require(.now - start < .seconds(10)) }
            await store.close()
        }
    }

    @Test("a server that does not speak TLS is told from one that is away")
    func plain() async throws {
        let redis = try RedisTestServer()
        let store = try RedisStore(try RedisAddress("rediss://127.0.0.1:\(redis.port)"), services: [])
        let trouble = await trouble(of: store)
        #expect(trouble.contains("does Redis speak TLS on this port?"), "\(trouble)")
        await store.close()
    }

    @Test("large sessions and others' changes go through TLS on both connections")
    func both() async throws {
        try await withCertificates { folder in
            let fixture = try Fixture(folder, "a")
            let (one, two) = (try fixture.store(), try fixture.store())
            func session(_ revision: UInt64) -> SessionRecord {
                // Text that a lost or doubled record of TLS would shift.
                let text = (0..<150_000).map { "\($0 + Int(revision)) " }.joined()
                return SessionRecord(
                    id: id, token: TokenDigest(words: (1, 2, 3, 4)), createdAt: 10, expiresAt: 1 << 40,
                    revision: revision,
                    services: [
                        ServiceDocument(
                            service: 0, birth: 0, revision: revision, createdAt: 1, updatedAt: 1,
                            bytes: Array(text.utf8))
                    ], details: SessionDetails())
            }
            try await one.create(StoredSession(record: session(1), lastUsedAt: 11))
            let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
            two.follow(id) { continuation.yield() }
            var iterator = changes.makeAsyncIterator()
            // The subscription itself.
            await iterator.next()
            try await one.commit(
                SessionCommit(record: session(2), replacedRevision: 1, changedServices: [0], changesServicesOnly: true))
            await iterator.next()
            let loaded = try await withThrowingTaskGroup(of: [UInt8]?.self) { group in
                for _ in 0..<10 { group.addTask { try await two.load(id)?.record.document(of: 0)?.bytes } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            #expect(loaded.allSatisfy { $0 == session(2).document(of: 0)?.bytes })
            await one.close()
            await two.close()
        }
    }

    @Test("the first bytes name the host, as servers with several certificates need it")
    func serverName() async throws {
        let listener = try TestListener { _ in nil }
        let store = try RedisStore(try RedisAddress("rediss://localhost:\(listener.port)"), services: [])
        var pieces = listener.received.makeAsyncIterator()
        #expect(await pieces.next()?.contains("localhost") == true)
        await store.close()
    }

    @Test(
        "concierge check says what is wrong with the files, and nothing of their contents",
        arguments: [
            ("root.pem", "ada.pem", "ada.key", ""), ("none.pem", "", "", "/redis_tls/ca missing_file"),
            ("a.key", "", "", "/redis_tls/ca bad_value"),
            ("", "ada.key", "ada.key", "/redis_tls/certificate bad_value"),
            ("", "ada.pem", "ada.pem", "/redis_tls/key bad_value"), ("", "ada.pem", "b.key", "/redis_tls/key conflict"),
            ("", "ada.pem", "locked.key", "/redis_tls/key bad_value"),
            ("", "ada.pem", "", "/redis_tls/key missing_key"), ("", "", "b.key", "/redis_tls/certificate missing_key"),
            ("plain", "", "", "warning: /redis_tls/ca without_effect"),
        ])
    func check(authorities: String, certificate: String, key: String, expected: String) async throws {
        try await withCertificates { folder in
            let isPlain = authorities == "plain"
            let files = [("ca", isPlain ? "root.pem" : authorities), ("certificate", certificate), ("key", key)]
            let settings = files.filter { !$0.1.isEmpty }.flatMap { ["--set", "redis_tls.\($0.0)=\(folder)/\($0.1)"] }
            let result = try await ProgramProcess.run(
                ["check", "--store", isPlain ? "redis://localhost" : "rediss://localhost"] + settings)
            #expect(result.status == (expected.isEmpty || isPlain ? 0 : 2))
            let said = result.output + result.complaints
            #expect(expected.isEmpty ? !said.contains("/redis_tls") : said.contains(expected), "\(said)")
            #expect(!said.contains("BEGIN") && !said.replacing(folder, with: "").contains("MI"))
        }
    }
}
