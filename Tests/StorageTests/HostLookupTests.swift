import Glibc
import HTTPTestClient
import Synchronization
import Testing

@testable import RedisStorage

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
