import Glibc

/// Writes whole batches to a descriptor, however long its reader takes.
///
/// `@unchecked Sendable`: used by the one thread that writes the log.
final class LogOutput: @unchecked Sendable {
    private let descriptor: Int32
    /// The last thing written was the beginning of a line, when writing failed.
    private var isInsideLine = false

    init(descriptor: Int32) {
        self.descriptor = descriptor
    }

    /// - Returns: how many lines could not be written, because of an error that waiting does not mend.
    func write(_ lines: UnsafeRawBufferPointer) -> Int {
        if isInsideLine {
            // What follows shall not be glued to the half that got through.
            var lineBreak = UInt8(ascii: "\n")
            if withUnsafeBytes(of: &lineBreak, put) == 1 { isInsideLine = false }
        }
        let written = put(lines)
        guard written < lines.count else { return 0 }
        isInsideLine = written > 0 ? lines[written - 1] != UInt8(ascii: "\n") : isInsideLine
        return lines[written...].count { $0 == UInt8(ascii: "\n") }
    }

    /// - Returns: how many bytes were written before an error.
    private func put(_ bytes: UnsafeRawBufferPointer) -> Int {
        var written = 0
        while written < bytes.count {
            let rest = UnsafeRawBufferPointer(rebasing: bytes[written...])
            let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
            if count >= 0 {
                written += count
            } else if errno == EAGAIN {
                // Somebody made the descriptor non-blocking; others may hold it too, so it stays so.
                var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&waiting, 1, -1)
            } else if errno != EINTR {
                return written
            }
        }
        return written
    }
}
