import Glibc

/// The lines of a file, one after the other, so that the file may be larger than memory.
final class LineReader {
    /// The file cannot be opened or read.
    struct Failure: Error, CustomStringConvertible {
        let description: String

        init(_ path: String) { description = "\(path): \(String(cString: strerror(errno)))" }
    }

    private let path: String
    private let file: UnsafeMutablePointer<FILE>
    private var buffer: UnsafeMutablePointer<CChar>?
    private var capacity = 0

    init(_ path: String) throws(Failure) {
        guard let file = fopen(path, "re") else { throw Failure(path) }
        self.path = path
        self.file = file
    }

    deinit {
        free(buffer)
        fclose(file)
    }

    /// The next line without its end; nil behind the last.
    func next() throws(Failure) -> [UInt8]? {
        let count = getline(&buffer, &capacity, file)
        guard count >= 0 else {
            if ferror(file) != 0 { throw Failure(path) }
            return nil
        }
        var line = Array(UnsafeRawBufferPointer(start: buffer, count: count))
        if line.last == UInt8(ascii: "\n") { line.removeLast() }
        return line
    }
}
