import Glibc
import Testing

/// Reads and changes files.
enum Files {
    static func read(_ path: String) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        try #require(file >= 0, "\(path): \(String(cString: strerror(errno)))")
        defer { close(file) }
        var status = stat()
        fstat(file, &status)
        var bytes = [UInt8](repeating: 0, count: Int(status.st_size))
        try #require(pread(file, &bytes, bytes.count, 0) == bytes.count)
        return bytes
    }

    static func read(_ path: String, at place: Int, count: Int) throws -> [UInt8] {
        let file = open(path, O_RDONLY)
        defer { close(file) }
        var bytes = [UInt8](repeating: 0, count: count)
        try #require(pread(file, &bytes, count, place) == count)
        return bytes
    }

    static func copy(_ path: String, to target: String) throws {
        let bytes = try read(path)
        let file = open(target, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        defer { close(file) }
        try #require(Glibc.write(file, bytes, bytes.count) == bytes.count)
    }

    static func flip(_ path: String, at place: Int, bit: UInt8 = 1) throws {
        let file = open(path, O_RDWR)
        defer { close(file) }
        var byte: UInt8 = 0
        try #require(pread(file, &byte, 1, place) == 1)
        byte ^= bit
        try #require(pwrite(file, &byte, 1, place) == 1)
    }

    static func names(in folder: String) -> [String] {
        guard let directory = opendir(folder) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: entry.pointee.d_name) {
                    String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
                })
        }
        return names.filter { $0 != "." && $0 != ".." }.sorted()
    }

    static func write(_ bytes: [UInt8], to path: String, at place: Int, makes: Bool = false) throws {
        let file = open(path, O_WRONLY | (makes ? O_CREAT : 0), 0o600)
        defer { close(file) }
        try #require(pwrite(file, bytes, bytes.count, place) == bytes.count)
    }
}
