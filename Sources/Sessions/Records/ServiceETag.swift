import Glibc

/// The version of a service's state: the session's revision at the service's last write, 0 if it was never written.
///
/// A session's revision only grows, so a value never returns for other content, even after the service was removed. 0
/// always stands for the default.
package struct ServiceETag: Sendable, Hashable {
    package let revision: UInt64

    package init(revision: UInt64) {
        self.revision = revision
    }

    /// Reads the text between the quotes of a strong entity tag; `nil` for a tag that no service can have.
    package init?(opaque: some StringProtocol) {
        // Only the spelling that `opaque` writes: "+1" or "01" are other tags (RFC 9110 section 8.8.3.2).
        guard let revision = UInt64(opaque), String(revision) == opaque else { return nil }
        self.revision = revision
    }

    /// The text between the quotes.
    package var opaque: String { String(revision) }

    /// The tag of a service that was never written.
    package static let unwritten = ServiceETag(revision: 0)
}

extension ServiceETag: CustomStringConvertible {
    /// In quotes, as in a header field.
    package var description: String {
        // With the exact capacity, up to 15 bytes need no memory.
        String(unsafeUninitializedCapacity: length) { buffer in
            write(into: UnsafeMutableRawBufferPointer(buffer))
            return length
        }
    }

    /// Whether the text is exactly this tag, in quotes.
    package func isWritten(_ text: UnsafeRawBufferPointer) -> Bool {
        let quote = UInt8(ascii: "\"")
        guard text.count == length, text[0] == quote, text[text.count - 1] == quote else { return false }
        var rest = revision
        for place in stride(from: text.count - 2, through: 1, by: -1) {
            guard text[place] == UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10) else { return false }
            rest /= 10
        }
        return true
    }

    /// Bytes of `description`.
    private var length: Int {
        var digits = 1
        var rest = revision
        while rest >= 10 {
            digits += 1
            rest /= 10
        }
        return digits + 2
    }

    private func write(into buffer: UnsafeMutableRawBufferPointer) {
        let last = buffer.count - 1
        buffer[0] = UInt8(ascii: "\"")
        buffer[last] = UInt8(ascii: "\"")
        var rest = revision
        for place in stride(from: last - 1, through: 1, by: -1) {
            buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
    }
}
