import HTTPTestClient
import JSONDocument
import Support
import Testing

/// The servers of `compose.yaml`'s profile `cluster` are replaced one after the other under load. The balancer sends a
/// request to another server only if the first one did not accept the connection.
@Suite("A rolling upgrade", .serialized)
struct RollingUpgradeTests {
    @Test(
        "fails no request and loses no write, whether each server restarts at its place or a new one starts first",
        arguments: [false, true])
    func underLoad(newOneFirst: Bool) async throws {
        // In memory: where a disk is slow, what Redis syncs may take longer than a request waits for it.
        try await withFolder([:], in: "/dev/shm") { _, folder in
            let servers = try await DeployedServers(in: folder, hasSpare: newOneFirst)
            var running = [try await servers.start(at: 0), try await servers.start(at: 1)]
            try await servers.balancerServes()
            if newOneFirst { try await servers.balancerSays("DOWN", of: 2) }
            var tokens: [String] = []
            for _ in 0..<3 {
                let created = try await running[0].client.send("POST", Paths.sessions)
                tokens.append(try #require(created[member: "token"]?.string))
            }
            let load = UpgradeLoad(port: servers.port)
            async let ended = load.run(tokens: tokens)
            do {
                for place in newOneFirst ? [2, 0] : [0, 1] {
                    for server in running { try await server.answers(50, of: load) }
                    let old = running.removeFirst()
                    if newOneFirst {
                        running.append(try await servers.start(at: place))
                        try await servers.balancerSays("UP", of: place)
                        try await Self.check(try await old.drain())
                    } else {
                        try await Self.check(try await old.drain())
                        running.append(try await servers.start(at: place))
                        try await servers.balancerSays("UP", of: place)
                    }
                }
                for server in running { try await server.answers(50, of: load) }
                // The stream, too, has been opened again by now, or is soon.
                for _ in 0..<500 where load.streams.opened < 2 || load.streams.events == 0 {
                    try await running[0].answers(50, of: load)
                }
                load.end()
            } catch {
                load.end()
                throw error
            }
            let acknowledged = try await ended
            #expect(load.failures.isEmpty, "\(load.failures.prefix(5)) of \(load.requests)")
            #expect(load.streams.opened > 1 && load.streams.events > 0)
            for server in running {
                for done in acknowledged {
                    let read = try await server.client.with(token: done.token).get(Paths.profile)
                    #expect(read["ETag"] == done.tag && read[member: "attributes"]?[member: "n"]?.int == done.number)
                }
            }
            // What servers that have ended have answered is the answer of the others.
            #expect(!load.created.isEmpty)
            for (key, token) in load.created.prefix(100) {
                let again = try await servers.client.send("POST", Paths.sessions, fields: [("Idempotency-Key", key)])
                #expect(again.status == 201 && again[member: "token"]?.string == token, "\(again.text)")
            }
            for server in running { try await Self.check(try await server.drain()) }
        }
    }

    private static func check(_ ended: ProgramProcess.Result) async throws {
        #expect(ended.status == 0 && ended.complaints.contains(#""event":"stopped""#), "\(ended.complaints)")
    }
}
