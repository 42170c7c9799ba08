import Glibc
import HTTPTestClient
import Synchronization
import Testing

@testable import RedisStorage

@Suite("The address of a Redis server") struct RedisAddressTests {
    @Test(
        "host, port, user, password and database are read",
        arguments: [
            ("redis://localhost", "localhost", 6_379, nil, nil, 0),
            ("REDIS://db:7000/", "db", 7_000, nil, nil, 0),
            ("redis://:secret@10.0.0.1:1/15", "10.0.0.1", 1, nil, "secret", 15),
            ("redis://ada:p%40%2F%3a@[::1]:6380/2", "::1", 6_380, "ada", "p@/:", 2),
            ("redis://a@b:c@host", "host", 6_379, "a@b", "c", 0),
        ] as [(String, String, UInt16, String?, String?, Int)])
    func read(text: String, host: String, port: UInt16, user: String?, password: String?, database: Int) throws {
        let address = try RedisAddress(text)
        #expect(address.host == host && address.port == port && address.database == database)
        #expect(address.user == user && address.password == password)
    }

    @Test("rediss:// is TLS, on the same port")
    func encrypted() throws {
        let address = try RedisAddress("rediss://ada@host/3")
        #expect(address.tls == RedisTLS() && address.port == 6_379)
        #expect("\(address)" == "rediss://ada@host:6379/3")
        #expect(try RedisAddress("redis://host").tls == nil)
    }

    @Test(
        "sentinels and nodes of a cluster are read, and shown as they are read",
        arguments: [
            ("redis+sentinel://a/m", .sentinels(master: "m"), ["a:26379"], 0, "redis+sentinel://a:26379/m"),
            (
                "redis+sentinel://a:1,[::1]:2,b/my-master/3", .sentinels(master: "my-master"),
                ["a:1", "[::1]:2", "b:26379"], 3, "redis+sentinel://a:1,[::1]:2,b:26379/my-master/3"
            ),
            ("REDIS+CLUSTER://u@a,b:1/", .cluster, ["a:6379", "b:1"], 0, "redis+cluster://u@a:6379,b:1"),
        ] as [(String, RedisAddress.Kind, [String], Int, String)])
    func several(
        text: String, kind: RedisAddress.Kind, places: [String], database: Int, shown: String
    ) throws {
        let address = try RedisAddress(text)
        #expect(address.kind == kind && address.places.map(\.description) == places && address.database == database)
        #expect("\(address)" == shown)
        #expect(try RedisAddress(shown) == address)
    }

    @Test("the password is not shown")
    func hidden() throws {
        let address = try RedisAddress("redis://ada:secret@[::1]:6380/2")
        #expect("\(address)" == "redis://ada@[::1]:6380/2")
        #expect(!"\(String(reflecting: address))".contains("secret"))
        var text = ""
        dump(address, to: &text)
        #expect(!text.contains("secret"))
    }

    @Test(
        "what is wrong with an address is said",
        arguments: [
            ("localhost:6379", "begins with redis://"), ("http://host", "begins with redis://"),
            ("redis://", "no host"), ("redis://:6379", "no host"),
            ("redis://host:0", "not a port"), ("redis://host:65536", "not a port"),
            ("redis://host:+1", "not a port"), ("redis://host:", "not a port"), ("redis://::1", "in brackets"),
            ("redis://[::1", "not closed"), ("redis://[::1]x", "not a port"),
            ("redis://host/one", "\"one\" is not the number"), ("redis://host/-1", "is not the number"),
            ("redis://host/1/2", "is not the number"), ("redis://:%4@host", "percent-encoded"),
            ("redis://:%zz@host", "percent-encoded"),
            ("redis://:%ff@host", "percent-encoded"), ("redis://host?db=1", "no \"?\""),
            ("redis://a,b", "several hosts"), ("redis+cluster://a,,b", "no host"), ("redis+cluster://", "no host"),
            ("redis+cluster://a,b/1", "no database but 0"), ("redis+sentinel://a,b", "name of the master"),
            ("redis+sentinel://a/m/x", "\"x\" is not the number"), ("redis+sentinel://a/m/1/2", "is not the number"),
        ])
    func wrong(text: String, reason: String) {
        do throws(RedisAddressError) {
            _ = try RedisAddress(text)
            Issue.record("nothing was thrown")
        } catch {
            #expect("\(error)".contains(reason), "\(error)")
        }
    }
}

@Suite("The socket addresses of a host") struct HostLookupTests {
    @Test("a name and an address are found")
    func found() async throws {
        let places = try await blocking { () throws in
            try ["localhost", "127.0.0.1", "::1"].map {
                try HostLookup.places(of: $0, port: 6_379, until: .now + .seconds(60))
            }
        }
        #expect(places[0].contains { places[1].contains($0) || places[2].contains($0) })
        #expect(places[1].map(\.family) == [AF_INET] && places[1][0].address[2...3] == [0x18, 0xEB])
        #expect(places[2].map(\.family) == [AF_INET6])
    }

    @Test("an address needs no name server")
    func address() async throws {
        let places = try await blocking {
            try HostLookup.places(of: "127.0.0.1", port: 1, until: .now) { _, _ in .success([]) }
        }
        #expect(places.count == 1)
    }

    @Test("a name server that does not respond holds nobody up")
    func silent() async throws {
        let release = try RedisSignal()
        defer { release.raise() }
        await #expect(throws: HostLookup.Reason(text: "no name server responds")) {
            try await blocking {
                try HostLookup.places(of: "redis.example", port: 1, until: .now + .milliseconds(20)) { _, _ in
                    release.wait(until: .now + .seconds(60))
                    return .success([])
                }
            }
        }
    }

    @Test("why there is no address is said")
    func refused() async throws {
        await #expect(throws: HostLookup.Reason(text: "there is none")) {
            try await blocking {
                try HostLookup.places(of: "redis.example", port: 1, until: .now + .seconds(60)) { _, _ in
                    .failure(HostLookup.Reason(text: "there is none"))
                }
            }
        }
    }
}
