import HTTPServer
import HTTPTestClient
import Testing

@Suite("The client's address")
struct ClientAddressTests {
    /// Asks a server that trusts these networks for the address that it sees.
    private static func seen(
        _ fields: [String], trusting networks: [String] = ["127.0.0.1", "10.0.0.0/8", "2001:db8::/32"],
        _ field: TrustedProxies.Field = .xForwardedFor
    ) async throws -> String {
        let networks = try networks.map { try #require(AddressRange($0)) }
        return try await withServer {
            $0.trustedProxies = TrustedProxies(networks: networks, field: field)
        } routes: { routes in
            routes.on(.get, "/") { HTTPResponse(text: "\($0.client.host) \($0.peer.host)") }
        } _: { server in
            return try await server.seen { connection in
                try connection.send(
                    "GET / HTTP/1.1\r\nHost: h\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
                let answer = try connection.readResponse().text.split(separator: " ", omittingEmptySubsequences: false)
                #expect(answer.last == "127.0.0.1")
                return String(answer.first ?? "")
            }
        }
    }

    @Test(
        "is the first one from the right that is no trusted proxy's",
        arguments: [
            ([], "127.0.0.1"),
            (["X-Forwarded-For: 203.0.113.7"], "203.0.113.7"),
            (["X-Forwarded-For: 6.6.6.6, 203.0.113.7"], "203.0.113.7"),
            (["X-Forwarded-For: 6.6.6.6, 203.0.113.7, 10.1.2.3"], "203.0.113.7"),
            (["X-Forwarded-For: 6.6.6.6", "x-forwarded-for: 203.0.113.7 ,10.1.2.3"], "203.0.113.7"),
            (["X-Forwarded-For: 10.9.9.9, 10.1.2.3"], "10.9.9.9"),
            (["X-Forwarded-For: 203.0.113.7:4711"], "203.0.113.7"),
            (["X-Forwarded-For: 2003:1::7"], "2003:1::7"),
            (["X-Forwarded-For: [2003:1::7]:4711, 2001:db8::1"], "2003:1::7"),
            (["X-Forwarded-For: ::ffff:203.0.113.7"], "203.0.113.7"),
            (["X-Forwarded-For: 6.6.6.6, unknown"], "127.0.0.1"),
            (["X-Forwarded-For: 6.6.6.6, unknown, 10.1.2.3"], "10.1.2.3"),
            (["X-Forwarded-For: 6.6.6.6,"], "127.0.0.1"),
            (["X-Forwarded-For: 6.6.6.6, [203.0.113.7]"], "127.0.0.1"),
            (["X-Forwarded-For: 6.6.6.6, 203.0.113.7:port"], "127.0.0.1"),
            (["X-Forwarded-For: 6.6.6.6, [2003:1::7"], "127.0.0.1"),
            (["Forwarded: for=203.0.113.7"], "127.0.0.1"),
        ])
    func forwardedFor(_ fields: [String], _ client: String) async throws {
        #expect(try await Self.seen(fields) == client)
    }

    @Test(
        "comes from Forwarded where that is what the proxies write",
        arguments: [
            (["Forwarded: for=203.0.113.7"], "203.0.113.7"),
            (["Forwarded: by=10.0.0.1;FOR=\"203.0.113.7:80\"; proto=http"], "203.0.113.7"),
            (["Forwarded: for=6.6.6.6", "Forwarded: for=\"[2003:1::7]:4711\", for=10.1.2.3"], "2003:1::7"),
            (["Forwarded: for=6.6.6.6, for=_hidden"], "127.0.0.1"),
            (["Forwarded: for=6.6.6.6, by=10.0.0.1"], "127.0.0.1"),
            // A client that opens a quotation mark does not hide what the proxy wrote behind it.
            (["Forwarded: for=6.6.6.6;x=\", for=203.0.113.7"], "203.0.113.7"),
            (["Forwarded: for=6.6.6.6;x=\", for=\"203.0.113.7\""], "203.0.113.7"),
            // Nor does it get a proxy's address, which may have no quota.
            (["Forwarded: for=6.6.6.6;x=\"", "Forwarded: for=203.0.113.7, for=10.1.2.3"], ""),
            (["Forwarded: for=6.6.6.6;x=\","], ""),
            (["Forwarded: for=6.6.6.6;for=203.0.113.7"], ""),
            (["Forwarded: for=\"203.0.113.\\7\""], "203.0.113.7"),
            (["Forwarded: for 203.0.113.7"], ""),
            (["X-Forwarded-For: 203.0.113.7"], "127.0.0.1"),
        ])
    func forwarded(_ fields: [String], _ client: String) async throws {
        #expect(try await Self.seen(fields, .forwarded) == client)
    }

    @Test("is the connection's where that does not come from a trusted network")
    func untrusted() async throws {
        #expect(try await Self.seen(["X-Forwarded-For: 203.0.113.7"], trusting: ["10.0.0.0/8"]) == "127.0.0.1")
    }

    @Test(
        "is in a network by its leading bits alone",
        arguments: [
            ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("0.0.0.0/0", "8.8.8.8", true),
            ("0.0.0.0/0", "2003::1", false), ("2003::/16", "2003:ffff::1", true), ("2003::/16", "2004::1", false),
            ("2003::/65", "2003::1", true), ("2003::/65", "2003::8000:0:0:1", false), ("::/0", "8.8.8.8", true),
            ("10.1.2.3", "10.1.2.3", true), ("10.1.2.3/32", "10.1.2.2", false), ("::1/128", "::1", true),
        ])
    func networks(_ network: String, _ address: String, isInside: Bool) throws {
        let range = try #require(AddressRange(network))
        let one = try #require(PeerAddress(address))
        #expect(range.contains(one) == isInside)
    }

    @Test(
        "is in no network that is none",
        arguments: ["", "10.0.0.0/33", "10.0.0.1/8", "10.0.0.0/", "10.0.0.0/8/8", "10.0/8", "::/129", "a", "::1/+1"])
    func noNetworks(_ text: String) { #expect(AddressRange(text) == nil) }

    @Test(
        "is in networks that are written as they are read",
        arguments: ["10.0.0.0/8", "10.1.2.3", "0.0.0.0/0", "::/0", "::", "2003::/16", "2003::1", "::1", "2003::/65"])
    func networkText(_ text: String) { #expect(AddressRange(text)?.description == text) }

    @Test(
        "is written as people write it",
        arguments: ["0.0.0.1", "9.10.99.100", "255.255.255.255", "2003:1::7", "::1", "1:2:3:4:5:6:7:8"])
    func text(_ text: String) { #expect(PeerAddress(text)?.host == text) }
}
