/// A line and a column in a text file, for messages about configuration.
///
/// ```swift
/// JSONSourceLocation(offset: error.offset, in: bytes).description  // "line 12, column 5"
/// ```
package struct JSONSourceLocation: Equatable, Sendable, CustomStringConvertible {
    /// Counted from 1.
    package let line: Int

    /// Counted from 1, in code points.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The place of a byte; offsets beyond the end are the end.
    package init(offset: Int, in bytes: [UInt8]) {
        var line = 1
        var column = 1
        for byte in bytes.prefix(max(0, offset)) {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0xC0 != 0x80 {
                // Every byte of a code point but its first begins with the bits 10.
                column += 1
            }
        }
        self.init(line: line, column: column)
    }

    package var description: String { "line \(line), column \(column)" }
}
