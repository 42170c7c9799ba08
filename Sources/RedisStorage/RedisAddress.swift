import Sessions

/// Where Redis is:
///
///     redis://[user[:password]@]host[:port][/database]
///     redis+sentinel://[user[:password]@]host[:port][,host[:port]…]/master[/database]
///     redis+cluster://[user[:password]@]host[:port][,host[:port]…]
///
/// With `rediss` in place of `redis` all connections, also those to sentinels, are encrypted.
/// User and password are those of Redis' servers, and may be percent-encoded. An IPv6 address is in brackets.
package struct RedisAddress: Sendable, Equatable {
    /// What listens at the places.
    package enum Kind: Sendable, Equatable {
        case server
        /// Sentinels, which know where the master of that name is.
        case sentinels(master: String)
        /// Some nodes of a cluster, which know the others.
        case cluster
    }

    package struct Place: Sendable, Hashable {
        package let host: String
        package let port: UInt16
    }

    package private(set) var kind: Kind
    /// At least one.
    package private(set) var places: [Place]
    /// `nil` for Redis' user `default`.
    package private(set) var user: String?
    package var password: String?
    /// Of the sentinels' user `default`.
    package var sentinelPassword: String?
    package private(set) var database = 0
    /// The key that names the file of the password.
    private(set) var passwordFile = "redis_password_file"
    /// `nil` for connections that are not encrypted.
    package var tls: RedisTLS?

    package var host: String { places[0].host }
    package var port: UInt16 { places[0].port }

    /// - Throws: ``RedisAddressError``.
    package init(_ text: String) throws(RedisAddressError) {
        guard let colon = text.firstRange(of: "://") else { throw Self.noScheme }
        let scheme = text[..<colon.lowerBound].lowercased()
            .split(separator: "+", maxSplits: 1, omittingEmptySubsequences: false)
        guard let name = scheme.first, ["redis", "rediss"].contains(name) else { throw Self.noScheme }
        if name == "rediss" { tls = RedisTLS() }
        let topology = scheme.dropFirst().first
        guard [nil, "sentinel", "cluster"].contains(topology) else { throw Self.noScheme }
        let isSentinel = topology == "sentinel"
        var rest = text[colon.upperBound...]
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw RedisAddressError("an address of Redis has no \"?\" and no \"#\": percent-encode them in a password")
        }
        if let at = rest.lastIndex(of: "@") {
            (user, password) = try Self.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        var parts = rest.split(separator: "/", maxSplits: isSentinel ? 2 : 1)[...]
        let hosts = rest.first == "/" ? "" : parts.popFirst() ?? ""
        places = []
        for place in hosts.split(separator: ",", omittingEmptySubsequences: false) {
            places.append(try Self.place(place, port: isSentinel ? 26_379 : 6_379))
        }
        guard topology != nil || places.count == 1 else {
            throw RedisAddressError("several hosts are those of a cluster, redis+cluster://, or of redis+sentinel://")
        }
        if isSentinel {
            guard let master = parts.popFirst() else {
                throw RedisAddressError(
                    "the name of the master follows the sentinels, as redis+sentinel://host:26379/mymaster")
            }
            kind = .sentinels(master: String(master))
        } else {
            kind = topology == nil ? .server : .cluster
        }
        let number = parts.first ?? ""
        guard let database = number.isEmpty ? 0 : Self.number(number), database < 1 << 16 else {
            throw RedisAddressError("\"\(number)\" is not the number of a database")
        }
        guard kind != .cluster || database == 0 else {
            throw RedisAddressError("a cluster has no database but 0")
        }
        self.database = database
    }

    private static let noScheme = RedisAddressError(
        "an address of Redis begins with redis://, as redis://127.0.0.1:6379, redis+sentinel:// or redis+cluster://")

    /// The server at a place that sentinels or a cluster have named.
    func server(at place: Place) -> RedisAddress {
        var server = self
        (server.kind, server.places) = (.server, [place])
        return server
    }

    /// The address of each sentinel.
    var sentinels: [RedisAddress] {
        places.map { place in
            var sentinel = server(at: place)
            (sentinel.user, sentinel.password, sentinel.database) = (nil, sentinelPassword, 0)
            sentinel.passwordFile = "redis_sentinel_password_file"
            return sentinel
        }
    }

    private static func credentials(
        _ text: Substring
    ) throws(RedisAddressError) -> (user: String?, password: String?) {
        let colon = text.firstIndex(of: ":")
        guard let user = decoded(text[..<(colon ?? text.endIndex)]),
            let password = decoded(colon.map { text[text.index(after: $0)...] } ?? "")
        else { throw RedisAddressError("user or password is not percent-encoded as it should be") }
        return (user.isEmpty ? nil : user, password.isEmpty ? nil : password)
    }

    private static func place(_ text: Substring, port usual: UInt16) throws(RedisAddressError) -> Place {
        var (host, rest) = (text, Substring())
        if text.first == "[" {
            guard let end = text.firstIndex(of: "]") else {
                throw RedisAddressError("the bracket of an IPv6 address is not closed")
            }
            host = text[text.index(after: text.startIndex)..<end]
            rest = text[text.index(after: end)...]
        } else if let colon = text.firstIndex(of: ":") {
            (host, rest) = (text[..<colon], text[colon...])
            guard !rest.dropFirst().contains(":") else {
                throw RedisAddressError("an IPv6 address is written in brackets, as redis://[::1]:6379")
            }
        }
        guard !host.isEmpty else { throw RedisAddressError("the address has no host") }
        if rest.isEmpty { return Place(host: String(host), port: usual) }
        guard rest.first == ":", let port = number(rest.dropFirst()).flatMap(UInt16.init(exactly:)), port > 0 else {
            // What stands there may be a password.
            throw RedisAddressError("what follows the host is not a port: that is a number from 1 to 65535")
        }
        return Place(host: String(host), port: port)
    }

    /// Digits alone: `Int` also reads signs.
    private static func number(_ text: Substring) -> Int? {
        text.utf8.allSatisfy { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ? Int(text) : nil
    }

    private static func decoded(_ text: Substring) -> String? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            let digits = String(decoding: rest.prefix(2), as: UTF8.self).lowercased()
            guard digits.utf8.count == 2, let decoded = Hexadecimal.bytes(digits) else { return nil }
            bytes += decoded
            rest = rest.dropFirst(2)
        }
        return String(validating: bytes, as: UTF8.self)
    }
}

extension RedisAddress: CustomStringConvertible, CustomReflectable {
    /// Without the password.
    package var description: String {
        var (topology, master) = ("", "")
        switch kind {
        case .server: break
        case .sentinels(let name): (topology, master) = ("+sentinel", "/\(name)")
        case .cluster: topology = "+cluster"
        }
        let scheme = (tls == nil ? "redis" : "rediss") + topology
        let hosts = places.map { "\($0)" }.joined(separator: ",")
        return "\(scheme)://\(user.map { "\($0)@" } ?? "")\(hosts)\(master)\(database == 0 ? "" : "/\(database)")"
    }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

extension RedisAddress.Place: CustomStringConvertible {
    package var description: String { "\(host.contains(":") ? "[\(host)]" : host):\(port)" }
}

/// What is wrong with an address of Redis, without a full stop.
package struct RedisAddressError: Error, CustomStringConvertible, Equatable {
    package let description: String

    init(_ description: String) { self.description = description }
}
