import Glibc

/// Where a command writes; tests collect the text instead.
package struct ProgramOutput: Sendable {
    private let writeResult: @Sendable (String) -> Void
    private let writeComplaint: @Sendable (String) -> Void

    package init(result: @escaping @Sendable (String) -> Void, complaint: @escaping @Sendable (String) -> Void) {
        writeResult = result
        writeComplaint = complaint
    }

    /// Standard output and standard error of the process.
    package static let standard = ProgramOutput(
        result: { write($0, to: STDOUT_FILENO) }, complaint: { write($0, to: STDERR_FILENO) })

    /// What was asked for.
    package func result(_ text: String) { writeResult(text) }

    /// What is wrong.
    package func complaint(_ text: String) { writeComplaint(text) }

    /// Unbuffered, so that nothing is lost when the process ends.
    private static func write(_ text: String, to descriptor: Int32) {
        var text = text
        text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)
            while let start = rest.baseAddress, !rest.isEmpty {
                let count = Glibc.write(descriptor, start, rest.count)
                if count < 0 && errno == EINTR { continue }
                // Nobody reads any more: there is no place left to say so.
                guard count > 0 else { return }
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            }
        }
    }
}
