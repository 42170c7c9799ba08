/// Text put together in memory that somebody else owns.
///
/// What does not fit stops the program rather than spoil other memory: who makes one knows how much will come.
struct LineBuilder {
    private let memory: UnsafeMutableRawBufferPointer
    private var count = 0

    init(_ memory: UnsafeMutableRawBufferPointer) {
        self.memory = memory
    }

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(rebasing: memory[..<count]) }

    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    mutating func append(_ text: [UInt8]) {
        text.withUnsafeBytes { append($0) }
    }

    private mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let start = source.baseAddress, let target = take(source.count) else { return }
        target.copyMemory(from: start, byteCount: source.count)
    }

    /// A name such as that of a request; any other character than letters, digits and `-._` becomes `_`.
    mutating func appendToken(_ text: String) {
        var text = text
        text.withUTF8 { source in
            guard let target = take(source.count)?.assumingMemoryBound(to: UInt8.self) else { return }
            for index in 0..<source.count {
                target[index] = Self.isTokenByte(source[index]) ? source[index] : UInt8(ascii: "_")
            }
        }
    }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"):
            true
        default: false
        }
    }

    mutating func appendDecimal(_ value: UInt64) {
        var digits = 1
        var bound: UInt64 = 10
        while digits < 20, value >= bound {
            digits += 1
            bound = digits < 20 ? bound * 10 : bound
        }
        guard let target = take(digits)?.assumingMemoryBound(to: UInt8.self) else { return }
        var rest = value
        for index in stride(from: digits - 1, through: 0, by: -1) {
            target[index] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }

    /// - Parameter value: 0 to 999.
    mutating func appendThreeDigits(_ value: UInt64) {
        guard let target = take(3)?.assumingMemoryBound(to: UInt8.self) else { return }
        target[0] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 100)
        target[1] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value / 10 % 10)
        target[2] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: value % 10)
    }

    /// Sixteen digits.
    mutating func appendHexadecimal(_ value: UInt64) {
        guard let target = take(16)?.assumingMemoryBound(to: UInt8.self) else { return }
        for index in 0..<16 {
            target[index] = VisibleText.hexDigit(UInt8(truncatingIfNeeded: value >> UInt64(60 - 4 * index)) & 15)
        }
    }

    private mutating func take(_ size: Int) -> UnsafeMutableRawPointer? {
        precondition(size <= memory.count - count, "a line of the log is longer than was reckoned")
        defer { count += size }
        return memory.baseAddress.map { $0 + count }
    }
}
