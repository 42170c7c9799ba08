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
