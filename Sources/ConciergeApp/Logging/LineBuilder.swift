/// Text put together in memory that somebody else owns.
///
/// What does not fit stops the program rather than spoil other memory: who makes one knows how much will come.
struct LineBuilder {
    private let start: UnsafeMutableRawPointer
    private let size: Int
    private var count = 0

    /// - Parameter memory: room for all that will be appended, and for `slack` more.
    init(_ memory: UnsafeMutableRawBufferPointer) {
        guard let start = memory.baseAddress else { preconditionFailure("a line of the log has no memory") }
        self.start = start
        size = memory.count
    }

    /// How much more than what counts may be written to: a whole word is stored quicker than some of its bytes.
    static let slack = MemoryLayout<UInt64>.size

    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: start, count: count) }

    /// Inlined, so that a literal is stored rather than copied.
    @inline(__always)
    mutating func append(_ text: StaticString) {
        append(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    @inline(__always)
    mutating func append(_ source: UnsafeRawBufferPointer) {
        guard let bytes = source.baseAddress else { return }
        take(source.count).copyMemory(from: bytes, byteCount: source.count)
    }

    /// - Parameter width: of how many digits there are at least, zeros in front; 8 at most.
    @inline(__always)
    mutating func appendDecimal(_ value: UInt64, width: Int = 1) {
        if value > Self.mostInWord { return appendLongDecimal(value) }
        // The digit that is found last ends up in the lowest byte, which comes first in memory.
        var word: UInt64 = 0
        var digits = 0
        var rest = UInt32(truncatingIfNeeded: value)
        repeat {
            word = word << 8 | UInt64(UInt32(UInt8(ascii: "0")) &+ rest % 10)
            rest /= 10
            digits &+= 1
        } while rest > 0 || digits < width
        store(word, count: digits)
    }

    /// The greatest number whose digits fit in a word.
    private static let mostInWord: UInt64 = 99_999_999

    @inline(never)
    private mutating func appendLongDecimal(_ value: UInt64) {
        let (high, low) = value.quotientAndRemainder(dividingBy: Self.mostInWord + 1)
        if high > Self.mostInWord { appendLongDecimal(high) } else { appendDecimal(high) }
        appendDecimal(low, width: 8)
    }

    /// - Parameter value: 0 to 999.
    @inline(__always)
    mutating func appendThreeDigits(_ value: UInt32) {
        let target = take(3).assumingMemoryBound(to: UInt8.self)
        target[0] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 100)
        target[1] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value / 10 % 10)
        target[2] = UInt8(ascii: "0") &+ UInt8(truncatingIfNeeded: value % 10)
    }

    /// Sixteen digits.
    mutating func appendHexadecimal(_ value: UInt64) {
        store(Self.hexadecimal(UInt32(truncatingIfNeeded: value >> 32)).bigEndian, count: 8)
        store(Self.hexadecimal(UInt32(truncatingIfNeeded: value)).bigEndian, count: 8)
    }

    /// Eight digits at once, the first one in the highest byte.
    private static func hexadecimal(_ value: UInt32) -> UInt64 {
        var nibbles = UInt64(value)
        nibbles = (nibbles | nibbles << 16) & 0x0000_FFFF_0000_FFFF
        nibbles = (nibbles | nibbles << 8) & 0x00FF_00FF_00FF_00FF
        nibbles = (nibbles | nibbles << 4) & 0x0F0F_0F0F_0F0F_0F0F
        // Six more make what is above nine carry over.
        let letters = (nibbles &+ 0x0606_0606_0606_0606) >> 4 & 0x0101_0101_0101_0101
        let fromDigitToLetter = UInt64(UInt8(ascii: "a") - 10 - UInt8(ascii: "0"))
        return nibbles &+ 0x3030_3030_3030_3030 &+ letters &* fromDigitToLetter
    }

    @inline(__always)
    private mutating func store(_ word: UInt64, count digits: Int) {
        take(digits).storeBytes(of: word.littleEndian, as: UInt64.self)
    }

    @inline(__always)
    private mutating func take(_ length: Int) -> UnsafeMutableRawPointer {
        precondition(count &+ length &+ Self.slack <= size, "a line of the log is longer than was reckoned")
        defer { count &+= length }
        return start + count
    }
}
