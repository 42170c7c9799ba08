import Glibc
import JSONDocument

/// Reads the small files of a configuration. Its errors name the file and the problem.
package struct FileReader: Sendable {
    /// A larger file is not a configuration file (but a log or an image) and would only cost memory.
    package static let defaultLimit = 1_048_576

    /// Where relative paths start; empty for the working directory of the process.
    private let directory: String

    package init(directory: String = "") {
        self.directory = directory
    }

    /// - Throws: ``FileProblem`` when it is missing, not readable, not a file, or larger than `limit` bytes.
    package func read(_ path: String, limit: Int = defaultLimit) throws(FileProblem) -> [UInt8] {
        // Without O_NONBLOCK, opening a FIFO without a writer would wait for ever.
        let descriptor = open(resolved(path), O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { throw FileProblem(path, errno: errno) }
        defer { close(descriptor) }

        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw FileProblem(path, errno: errno) }
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw FileProblem(path, errno: EISDIR)
        default: throw FileProblem(code: "wrong_file_kind", description: "\(path) is not an ordinary file")
        }
        return try contents(of: descriptor, path: path, limit: limit)
    }

    /// The names of every `*.json` in a directory, sorted. Hidden files are skipped: editors and mounted volumes use
    /// them.
    package func jsonFiles(in path: String) throws(FileProblem) -> [String] {
        try names(in: path).filter { $0.hasSuffix(".json") && !$0.hasPrefix(".") }
    }

    /// The names in a directory, sorted, without `.` and `..`.
    package func names(in path: String) throws(FileProblem) -> [String] {
        guard let stream = opendir(resolved(path)) else { throw FileProblem(path, errno: errno) }
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

    /// The path for the system.
    package func path(of path: String) -> String { resolved(path) }

    private func resolved(_ path: String) -> String {
        PathText.join(directory, path)
    }

    private func contents(of descriptor: Int32, path: String, limit: Int) throws(FileProblem) -> [UInt8] {
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16_384)
        while true {
            // `Glibc.read`: the method of the same name hides it.
            let count = Glibc.read(descriptor, &chunk, chunk.count)
            if count < 0 {
                if errno == EINTR { continue }
                throw FileProblem(path, errno: errno)
            }
            if count == 0 { return bytes }
            // `stat` does not help: the size of files below /proc and /sys is 0.
            guard bytes.count + count <= limit else {
                throw FileProblem(code: "file_too_large", description: "\(path) is larger than \(limit) bytes")
            }
            bytes += chunk[..<count]
        }
    }
}

/// Why a file could not be read, as a sentence.
package struct FileProblem: Error, CustomStringConvertible {
    /// The stable name of the reason in the output of `concierge check`.
    package let code: String
    package let description: String
}

extension FileProblem {
    fileprivate init(_ path: String, errno code: Int32) {
        (self.code, description) =
            switch code {
            case ENOENT: ("missing_file", "\(path) does not exist")
            case EACCES, EPERM: ("unreadable_file", "\(path) may not be read by this user")
            case EISDIR: ("wrong_file_kind", "\(path) is a directory, not a file")
            case ENOTDIR: ("wrong_file_kind", "\(path) is not a directory, or something on its way is not one")
            default: ("unreadable_file", "\(path) could not be read (system error \(code))")
            }
    }
}

/// Operations on paths as text, without the file system.
package enum PathText {
    /// `name` relative to `directory`; an absolute name stays as it is.
    package static func join(_ directory: String, _ name: String) -> String {
        if directory.isEmpty || name.utf8.first == UInt8(ascii: "/") { return name }
        return directory.utf8.last == UInt8(ascii: "/") ? directory + name : "\(directory)/\(name)"
    }

    /// The directory of a path, empty when there is none: `config` for `config/concierge.json`.
    package static func directory(of path: String) -> String {
        guard let slash = path.lastIndex(of: "/") else { return "" }
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }
}

/// A parsed JSON file with comments, with the positions of its values.
package struct JSONFile {
    let path: String
    let document: JSONDocument
    let bytes: [UInt8]
    private let places: JSONPlaces

    /// - Throws: a problem with the file's name and, for text that is not JSON, line and column.
    package init(reading path: String, with files: FileReader) throws(ConfigurationProblem) {
        let bytes: [UInt8]
        do {
            bytes = try files.read(path)
        } catch {
            throw ConfigurationProblem(at: .file(path), code: error.code, "\(error)")
        }
        try self.init(path: path, bytes: bytes)
    }

    /// - Throws: a problem with line and column.
    init(path: String, bytes: [UInt8]) throws(ConfigurationProblem) {
        do {
            document = try JSONDocument(parsing: bytes, comments: true)
        } catch {
            let place = JSONSourceLocation(offset: error.offset, in: bytes)
            throw ConfigurationProblem(
                at: .file(path: path, line: place.line, column: place.column), pointer: error.pointer ?? "",
                code: "invalid_json", error.clause(in: bytes))
        }
        self.path = path
        self.bytes = bytes
        places = JSONPlaces(of: bytes)
    }

    /// The line and column of the value at the pointer, or of the nearest existing value around it.
    package func origin(of pointer: JSONPointer) -> ValueOrigin {
        var tokens = pointer.tokens
        while true {
            if let offset = places.offset(of: JSONPointer(tokens)) {
                let place = JSONSourceLocation(offset: offset, in: bytes)
                return .file(path: path, line: place.line, column: place.column)
            }
            if tokens.popLast() == nil { return .file(path) }
        }
    }
}
