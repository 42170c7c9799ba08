import Sessions

/// Where a Redis server is, written `redis://[user[:password]@]host[:port][/database]`, or `rediss://…` for TLS.
///
/// User and password may be percent-encoded. An IPv6 address is in brackets.
package struct RedisAddress: Sendable, Equatable {
    package let host: String
    package let port: UInt16
    /// `nil` for Redis' user `default`.
    package let user: String?
    package var password: String?
    package let database: Int
    /// `nil` for a connection that is not encrypted.
    package var tls: RedisTLS?

    /// - Throws: ``RedisAddressError``.
    package init(_ text: String) throws(RedisAddressError) {
        guard let colon = text.firstRange(of: "://") else {
            throw RedisAddressError("an address of Redis begins with redis://, as redis://127.0.0.1:6379")
        }
        switch text[..<colon.lowerBound].lowercased() {
        case "redis": break
        case "rediss": tls = RedisTLS()
        default: throw RedisAddressError("an address of Redis begins with redis://, as redis://127.0.0.1:6379")
        }
        var rest = text[colon.upperBound...]
        guard !rest.contains(where: { $0 == "?" || $0 == "#" }) else {
            throw RedisAddressError("an address of Redis has no \"?\" and no \"#\": percent-encode them in a password")
        }
        var written: (user: String?, password: String?)
        if let at = rest.lastIndex(of: "@") {
            written = try Self.credentials(rest[..<at])
            rest = rest[rest.index(after: at)...]
        }
        let slash = rest.firstIndex(of: "/")
        (host, port) = try Self.hostAndPort(rest[..<(slash ?? rest.endIndex)])
        let number = slash.map { rest[rest.index(after: $0)...] } ?? ""
        guard let database = number.isEmpty ? 0 : Self.number(number), database < 1 << 16 else {
            throw RedisAddressError("\"\(number)\" is not the number of a database")
        }
        self.database = database
        user = written.user
        password = written.password
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

    private static func hostAndPort(_ text: Substring) throws(RedisAddressError) -> (String, UInt16) {
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
        if rest.isEmpty { return (String(host), 6_379) }
        guard rest.first == ":", let port = number(rest.dropFirst()).flatMap(UInt16.init(exactly:)), port > 0 else {
            // What stands there may be a password.
            throw RedisAddressError("what follows the host is not a port: that is a number from 1 to 65535")
        }
        return (String(host), port)
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
        "redis\(tls == nil ? "" : "s")://\(user.map { "\($0)@" } ?? "")\(host.contains(":") ? "[\(host)]" : host):\(port)\(database == 0 ? "" : "/\(database)")"
    }
    package var customMirror: Mirror { Mirror(self, children: []) }
}

/// What is wrong with an address of Redis, without a full stop.
package struct RedisAddressError: Error, CustomStringConvertible, Equatable {
    package let description: String

    init(_ description: String) { self.description = description }
}
