/// The values of a row: <https://www.sqlite.org/fileformat2.html#record_format>.
struct Record {
    enum Value: Equatable {
        case null
        case integer(Int64)
        case real
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    let bytes: [UInt8]
    /// Texts and blobs are ranges of the bytes.
    let values: [Value]

    /// Nil when the bytes are not exactly one record.
    ///
    /// - Parameter isCut: whether the end of the record is missing. What is left of its values is as it was.
    init?(_ bytes: [UInt8], isCut: Bool = false) {
        var place = 0
        guard let length = Self.varint(bytes, &place), let end = Int(exactly: length), end <= bytes.count else {
            return nil
        }
        var (values, content) = ([Value](), end)
        while place < end {
            guard let type = Self.varint(bytes, &place), place <= end else { return nil }
            guard var size = Self.size(of: type), size <= bytes.count - content || isCut && type >= 12 else {
                return nil
            }
            size = min(size, bytes.count - content)
            values.append(Self.value(bytes, type, content..<content + size))
            content += size
        }
        guard content == bytes.count else { return nil }
        self.bytes = bytes
        self.values = values
    }

    func integer(_ column: Int) -> Int64? {
        if column < values.count, case .integer(let number) = values[column] { number } else { nil }
    }

    func text(_ column: Int) -> String? {
        if column < values.count, case .text(let range) = values[column] {
            String(decoding: bytes[range], as: UTF8.self)
        } else {
            nil
        }
    }

    func blob(_ column: Int) -> ArraySlice<UInt8>? {
        if column < values.count, case .blob(let range) = values[column] { bytes[range] } else { nil }
    }

    private static func size(of type: UInt64) -> Int? {
        switch type {
        case 0, 8, 9: 0
        case 1...4: Int(type)
        case 5: 6
        case 6, 7: 8
        case 10, 11: nil
        default: Int(exactly: (type - 12) / 2)
        }
    }

    private static func value(_ bytes: [UInt8], _ type: UInt64, _ range: Range<Int>) -> Value {
        switch type {
        case 0: .null
        case 8, 9: .integer(Int64(type) - 8)
        case 1...6:
            // The first byte has the sign.
            .integer(
                bytes[range].dropFirst().reduce(Int64(Int8(bitPattern: bytes[range.lowerBound]))) {
                    $0 << 8 | Int64($1)
                })
        case 7: .real
        default: type.isMultiple(of: 2) ? .blob(range) : .text(range)
        }
    }

    /// Reads a number of one to nine bytes: seven bits of each, the highest first, and all eight of the ninth.
    static func varint(_ bytes: [UInt8], _ place: inout Int) -> UInt64? {
        var value: UInt64 = 0
        for count in 1...9 {
            guard place < bytes.count else { return nil }
            let byte = bytes[place]
            place += 1
            if count == 9 { return value << 8 | UInt64(byte) }
            value = value << 7 | UInt64(byte & 0x7F)
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
