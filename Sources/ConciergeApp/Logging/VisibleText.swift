/// Keeps a line one line, and keeps what a client sent from commanding a terminal.
enum VisibleText {
    /// Copies JSON text. What JSON need not escape but some readers act on, DEL and the controls U+0080 to U+009F,
    /// is escaped: such bytes stand in strings only. White space between tokens becomes a space.
    static func append(_ json: some Collection<UInt8>, to text: inout [UInt8]) {
        var lead = false
        for byte in json {
            // The controls are C2 80 to C2 9F in UTF-8; the lead byte was copied already.
            if lead, (0x80...0x9F).contains(byte) {
                text.removeLast()
                escape(byte, to: &text)
            } else if byte == 0x7F {
                escape(byte, to: &text)
            } else {
                text.append(max(byte, 0x20))
            }
            lead = byte == 0xC2
        }
    }

    private static func escape(_ byte: UInt8, to text: inout [UInt8]) {
        text.append(contentsOf: "\\u00".utf8)
        text.append(hexDigit(byte >> 4))
        text.append(hexDigit(byte & 15))
    }

    /// - Parameter value: 0 to 15.
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
