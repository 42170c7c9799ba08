/// A text that equals another only byte for byte.
///
/// Swift's strings are equal when they look the same, however they are composed (Unicode's canonical equivalence).
/// Identifiers from outside are not: two users whose ids differ in one byte are two users.
package struct ExactText: Sendable, Hashable {
    package let text: String

    package init(_ text: String) { self.text = text }

    package static func == (left: Self, right: Self) -> Bool { left.text.isExactly(right.text) }

    package func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
    }
}

extension String {
    /// Whether it is the same byte for byte, see ``ExactText``.
    package func isExactly(_ other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// The names that operators give to keys: letters, digits, dots, hyphens and underlines.
package enum KeyName {
    package static func isValid(_ name: some StringProtocol, most: Int) -> Bool {
        (1...most).contains(name.utf8.count)
            && name.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "._-".utf8.contains(byte)
                }
            }
    }
}
