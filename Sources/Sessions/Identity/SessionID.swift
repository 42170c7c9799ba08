/// The name of a session: the time at which it was made, and 80 random bits (``SessionIDSource``). Not a secret: it may
/// stand in paths and logs and opens nothing by itself.
///
/// Its text is `ses_` and 32 lower-case hexadecimal digits. Ids are ordered as their texts are.
package struct SessionID: Sendable, Hashable {
    package let high: UInt64
    package let low: UInt64

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// 128 bits from `random`.
    package init(random: some RandomSource) {
        var words: (UInt64, UInt64) = (0, 0)
        withUnsafeMutableBytes(of: &words) { random.fill($0) }
        self.init(high: words.0, low: words.1)
    }

    /// Reads `ses_` and 32 lower-case digits; anything else, upper case among it, is no id.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count == Self.length, text.hasPrefix(Self.prefix) else { return nil }
        let digits = text.utf8.dropFirst(Self.prefix.utf8.count)
        guard let high = Hexadecimal.word(digits.prefix(Hexadecimal.wordLength)),
            let low = Hexadecimal.word(digits.dropFirst(Hexadecimal.wordLength))
        else { return nil }
        self.init(high: high, low: low)
    }

    static let prefix = "ses_"
}

extension SessionID {
    /// What tables hash by. The second half of an id is random already, and drawn here rather than by a client, so that
    /// nothing is won by mixing it once more, which would take most of the time of a look-up.
    package func _rawHashValue(seed: Int) -> Int {
        // Without the low byte, which tells the shards of the registry apart: in one of them it is always the same.
        Int(truncatingIfNeeded: high ^ low >> 8) ^ seed
    }
}

extension SessionID: Comparable {
    package static func < (left: Self, right: Self) -> Bool {
        (left.high, left.low) < (right.high, right.low)
    }
}

extension SessionID: CustomStringConvertible {
    package var description: String { Self.prefix + Hexadecimal.text(high) + Hexadecimal.text(low) }

    /// Bytes of its text.
    package static let length = 36

    /// The text, without making a string.
    /// - Precondition: `buffer` has room for `length` bytes.
    package func write(into buffer: UnsafeMutableRawBufferPointer) {
        buffer.copyBytes(from: Self.prefix.utf8)
        guard let digits = buffer.baseAddress.map({ $0 + Self.prefix.utf8.count }) else { return }
        Hexadecimal.write(high, to: digits)
        Hexadecimal.write(low, to: digits + Hexadecimal.wordLength)
    }
}
