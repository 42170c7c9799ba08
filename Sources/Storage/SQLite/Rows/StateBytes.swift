import CDeflate

/// Writes the parts of a row's state one after another.
struct StateWriter {
    private(set) var bytes: [UInt8] = []

    init(reservingCapacity capacity: Int) { bytes.reserveCapacity(capacity) }

    mutating func add(_ byte: UInt8) { bytes.append(byte) }

    mutating func add(raw part: UnsafeRawBufferPointer) { bytes.append(contentsOf: part) }

    /// LEB128: seven bits in a byte, the lowest first.
    mutating func add(_ number: UInt64) {
        var rest = number
        while rest > 0x7F {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }

    /// Adds a difference of times. Small differences of either sign take few bytes.
    mutating func add(difference: Int64) { add(UInt64(bitPattern: difference << 1 ^ difference >> 63)) }

    /// Adds the length, and then the bytes.
    mutating func add(_ part: [UInt8]) {
        add(UInt64(part.count))
        bytes.append(contentsOf: part)
    }

    mutating func add(_ text: String) {
        var text = text
        text.withUTF8 {
            add(UInt64($0.count))
            add(raw: UnsafeRawBufferPointer($0))
        }
    }
}

/// Reads what a ``StateWriter`` has written. Any other bytes throw an error.
struct StateReader {
    struct Malformed: Error {}

    private var rest: UnsafeRawBufferPointer

    init(_ bytes: UnsafeRawBufferPointer) { rest = bytes }

    var isAtEnd: Bool { rest.isEmpty }

    mutating func byte() throws(Malformed) -> UInt8 { try raw(1)[0] }

    mutating func raw(_ count: Int) throws(Malformed) -> UnsafeRawBufferPointer {
        guard count >= 0, count <= rest.count else { throw Malformed() }
        defer { rest = UnsafeRawBufferPointer(rebasing: rest[count...]) }
        return UnsafeRawBufferPointer(rebasing: rest[..<count])
    }

    mutating func number() throws(Malformed) -> UInt64 {
        var value: UInt64 = 0
        for shift in stride(from: 0, to: 64, by: 7) {
            let next = try byte()
            value |= UInt64(next & 0x7F) << UInt64(shift)
            if next & 0x80 == 0 { return value }
        }
        throw Malformed()
    }

    mutating func difference() throws(Malformed) -> Int64 {
        let value = try number()
        return Int64(bitPattern: value >> 1) ^ -Int64(bitPattern: value & 1)
    }

    mutating func count() throws(Malformed) -> Int {
        guard let count = Int(exactly: try number()) else { throw Malformed() }
        return count
    }

    mutating func bytes() throws(Malformed) -> [UInt8] { Array(try raw(try count())) }

    mutating func text() throws(Malformed) -> String { String(decoding: try raw(try count()), as: UTF8.self) }
}

/// CRC-32, as in zlib. SQLite notices damage only in the structure of a page, not a flipped bit in a document.
struct RowChecksum {
    private(set) var value = UInt32(truncatingIfNeeded: libdeflate_crc32(0, nil, 0))

    mutating func add(_ number: Int64) {
        withUnsafeBytes(of: number.littleEndian) { add($0) }
    }

    mutating func add(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        value = libdeflate_crc32(value, start, bytes.count)
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        var sum = RowChecksum()
        bytes.withUnsafeBytes { sum.add($0) }
        return sum.value
    }
}
