import Glibc

/// Reads the small files that configuration consists of, with an error that says what is wrong with which file.
package struct FileReader: Sendable {
    /// A configuration file that is larger than this is a mistake (a log, an image) and would only cost memory.
    package static let defaultLimit = 1_048_576

    /// Relative paths start here; empty is the working directory of the process.
    private let directory: String

    package init(directory: String = "") {
        self.directory = directory
    }

    /// - Throws: ``FileProblem`` when it is missing, not readable, not a file, or larger than `limit` bytes.
    package func read(_ path: String, limit: Int = defaultLimit) throws(FileProblem) -> [UInt8] {
        // Without O_NONBLOCK, opening a FIFO that nobody writes to would wait for ever.
        let descriptor = open(resolved(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileProblem(path: path, errno: errno) }
        defer { close(descriptor) }

        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileProblem(path: path, errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw FileProblem(path: path, reason: .isDirectory)
        default: throw FileProblem(path: path, reason: .notAFile)
        }
        return try contents(of: descriptor, path: path, limit: limit)
    }

    /// The names in a directory, sorted, without `.` and `..`.
    package func names(in path: String) throws(FileProblem) -> [String] {
        guard let stream = opendir(resolved(path)) else { throw FileProblem(path: path, errno: errno) }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { bytes in
                String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != ".", name != ".." { names.append(name) }
        }
        return names.sorted()
    }

    package func exists(_ path: String) -> Bool {
        access(resolved(path), F_OK) == 0
    }

    /// As the system knows it.
    package func path(of path: String) -> String { resolved(path) }

    private func resolved(_ path: String) -> String {
        PathText.join(directory, path)
    }

    private func contents(of descriptor: Int32, path: String, limit: Int) throws(FileProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            // `Glibc.read`: the method of the same name would hide it.
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw FileProblem(path: path, errno: errno)
            }
            if count == 0 { return bytes }
            // Not by the size in `stat`: files below /proc and /sys say 0 there.
            guard bytes.count + count <= limit else { throw FileProblem(path: path, reason: .tooLarge(limit)) }
            bytes += chunk[..<count]
        }
    }
}

/// Writes the little JSON that the program prints about itself, in the order it is given.
enum JSONText {
    static func string(_ text: String) -> String {
        var written = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": written += "\\\""
            case "\\": written += "\\\\"
            case "\n": written += "\\n"
            case "\t": written += "\\t"
            case "\u{0}"..."\u{1F}", "\u{7F}"..."\u{9F}", "\u{2028}", "\u{2029}": written += escape(scalar)
            default: written.unicodeScalars.append(scalar)
            }
        }
        return written + "\""
    }

    static func array(_ items: [String]) -> String {
        "[" + items.joined(separator: ", ") + "]"
    }

    private static func escape(_ scalar: Unicode.Scalar) -> String {
        let digits = String(scalar.value, radix: 16)
        return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    }
}
