/// Keeps a line one line, and keeps what a client sent from commanding a terminal or reordering what it shows.
enum VisibleText {
    /// Copies JSON text. What JSON need not escape but some readers act on is escaped: DEL, the controls U+0080 to
    /// U+009F, the separators of lines and paragraphs, and what turns the direction of writing. Such characters stand
    /// in strings only. White space between tokens becomes a space.
    static func append(_ json: some Collection<UInt8>, to text: inout [UInt8]) {
        // The two bytes before: they were copied already.
        var lead: UInt8 = 0
        var previous: UInt8 = 0
        for byte in json {
            switch (lead, previous, byte) {
            case (_, _, 0x7F): escape(0x00, byte, to: &text)
            case (_, 0xC2, 0x80...0x9F):
                text.removeLast()
                escape(0x00, byte, to: &text)
            // U+2028 to U+202E, and U+2066 to U+2069.
            case (0xE2, 0x80, 0xA8...0xAE), (0xE2, 0x81, 0xA6...0xA9):
                text.removeLast(2)
                escape(0x20, (previous & 0x3F) << 6 | (byte & 0x3F), to: &text)
            default: text.append(max(byte, 0x20))
            }
            lead = previous
            previous = byte
        }
    }

    private static func escape(_ high: UInt8, _ low: UInt8, to text: inout [UInt8]) {
        text.append(contentsOf: "\\u".utf8)
        for byte in [high, low] {
            text.append(hexDigit(byte >> 4))
            text.append(hexDigit(byte & 15))
        }
    }

    /// - Parameter value: 0 to 15.
    static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
