import Synchronization

/// The name of a session: the time of its creation and 80 random bits (``SessionIDSource``). It is not a secret: it may
/// occur in paths and logs, and grants no access.
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

    /// Reads `ses_` and 32 lower-case digits; `nil` for anything else, including upper case.
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
    /// The hash for tables. The second half of an id is random already, and the server drew it, so mixing it again
    /// would gain nothing and take most of the time of a look-up.
    package func _rawHashValue(seed: Int) -> Int {
        // Without the low byte, which selects the registry's shard: it is the same for all ids of a shard.
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

/// Makes the ids of new sessions, which grow with time.
///
/// The first half of an id is the time in milliseconds, in 48 bits, and 16 random bits; the second half is random. So
/// sessions that are created one after the other are adjacent in a tree that is ordered by id: creating one writes a
/// part of a page instead of a page of its own, and sessions that are used at the same time share pages.
final class SessionIDSource: Sendable {
    /// The first half of the newest id.
    private let newest = Atomic<UInt64>(0)

    /// An id that is greater than all before it, even when the clock has gone back.
    ///
    /// - Parameter now: in milliseconds since 1970.
    func next(at now: Int64, random: some RandomSource) -> SessionID {
        let random = SessionID(random: random)
        let wanted = UInt64(clamping: now) << 16 | random.high & 0xFFFF
        var known = newest.load(ordering: .relaxed)
        while true {
            let high = max(wanted, known + 1)
            let (isDone, found) = newest.weakCompareExchange(expected: known, desired: high, ordering: .relaxed)
            if isDone { return SessionID(high: high, low: random.low) }
            known = found
        }
    }
}
