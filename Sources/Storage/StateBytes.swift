import CDeflate
import Sessions

/// Writes parts of what is stored one after another.
package struct StateWriter {
    package private(set) var bytes: [UInt8] = []

    package init(reservingCapacity capacity: Int) { bytes.reserveCapacity(capacity) }

    package mutating func add(_ byte: UInt8) { bytes.append(byte) }

    package mutating func add(raw part: UnsafeRawBufferPointer) { bytes.append(contentsOf: part) }

    /// LEB128: seven bits in a byte, the lowest first.
    package mutating func add(_ number: UInt64) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Adds a difference of times. Small differences of either sign take few bytes.
    package mutating func add(difference: Int64) { add(UInt64(bitPattern: difference << 1 ^ difference >> 63)) }

    /// Adds the length, and then the bytes.
    package mutating func add(_ part: [UInt8]) {
        add(UInt64(part.count))
        bytes.append(contentsOf: part)
    }

    package mutating func add(_ text: String) {
        var text = text
        text.withUTF8 {
            add(UInt64($0.count))
            add(raw: UnsafeRawBufferPointer($0))
        }
    }

    /// - Parameter start: the session's creation time.
    package mutating func add(_ tokens: [RetiredToken], from start: Int64) {
        add(UInt64(tokens.count))
        for token in tokens {
            token.digest.withBytes { add(raw: $0) }
            for time in [token.givenAt, token.retiredAt, token.graceEndsAt] { add(difference: time &- start) }
        }
    }

    /// - Parameter start: the session's creation time.
    package mutating func add(_ exchange: TokenExchange, from start: Int64) {
        exchange.former.withBytes { add(raw: $0) }
        add((exchange.challenge == nil ? 0 : 1) | (exchange.isDone ? 2 : 0) | (exchange.isByCookie ? 4 : 0) as UInt8)
        exchange.challenge?.withBytes { add(raw: $0) }
        add(difference: exchange.endsAt &- start)
    }
}

/// Reads what a ``StateWriter`` has written. Any other bytes throw an error.
package struct StateReader {
    package struct Malformed: Error {
        package init() {}
    }

    private var rest: UnsafeRawBufferPointer

    package init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    package var isAtEnd: Bool { rest.isEmpty }

    package mutating func byte() throws(Malformed) -> UInt8 { try raw(1)[0] }

    package mutating func raw(_ count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= rest.count else { throw Malformed() }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    package mutating func number() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let next = try byte()
            value |= UInt64(next & 0x7F) << UInt64(shift)
            if next & 0x80 == 0 { return value }
        }
        throw Malformed()
    }

    package mutating func difference() throws(Malformed) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    package mutating func count() throws(Malformed) -> Int {
        guard let count = Int(exactly: try number()) else { throw Malformed() }
        return count
    }

    package mutating func bytes() throws(Malformed) -> [UInt8] { Array(try raw(try count())) }

    package mutating func text() throws(Malformed) -> String { String(decoding: try raw(try count()), as: UTF8.self) }

    package mutating func retiredTokens(from start: Int64) throws(Malformed) -> [RetiredToken] {
        var tokens: [RetiredToken] = []
        for _ in 0..<(try count()) {
            guard let digest = TokenDigest(bytes: Array(try raw(32))) else { throw Malformed() }
            var times: [Int64] = []
            for _ in 0..<3 { times.append(start &+ (try difference())) }
            // So that their differences are numbers, too.
            guard times.allSatisfy({ $0 >= 0 }) else { throw Malformed() }
            tokens.append(
                RetiredToken(digest: digest, givenAt: times[0], retiredAt: times[1], grace: times[2] - times[1]))
        }
        return tokens
    }

    package mutating func exchange(from start: Int64) throws(Malformed) -> TokenExchange {
        guard let former = TokenDigest(bytes: Array(try raw(32))) else { throw Malformed() }
        let flags = try byte()
        let challenge = flags & 1 == 0 ? nil : CodeChallenge(bytes: Array(try raw(32)))
        return TokenExchange(
            former: former, challenge: challenge, isByCookie: flags & 4 != 0, endsAt: start &+ (try difference()),
            isDone: flags & 2 != 0)
    }
}

/// CRC-32, as in zlib. SQLite notices damage only in the structure of a page, not a flipped bit in a document; Redis
/// none.
package struct RowChecksum {
    package private(set) var value = UInt32(truncatingIfNeeded: libdeflate_crc32(0, nil, 0))

    package init() {}

    package mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    package mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        value = libdeflate_crc32(value, start, bytes.count)
    }

    package static func of(_ bytes: [UInt8]) -> UInt32 {
        var sum = RowChecksum()
        bytes.withUnsafeBytes { sum.add($0) }
        return sum.value
    }
}
