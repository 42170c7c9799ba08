import Configuration
import Glibc

/// A temporary directory with the given files, by their paths in it, removed with everything in it when `body` ends,
/// also when it throws.
///
/// - Parameter parent: where it is made.
package func withFolder<Result>(
    _ files: [String: String], in parent: String = "/tmp", _ body: (FileReader, String) async throws -> Result
) async throws -> Result {
    var template = Array("\(parent)/concierge-configuration-XXXXXX".utf8CString)
    guard mkdtemp(&template) != nil else { throw FolderError(errno) }
    let folder = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    defer { removeAll(folder) }
    for (name, text) in files {
        var directory = folder
        for part in name.split(separator: "/").dropLast() {
            directory += "/\(part)"
            if mkdir(directory, 0o700) != 0, errno != EEXIST { throw FolderError(errno) }
        }
        let file = open("\(folder)/\(name)", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard file >= 0 else { throw FolderError(errno) }
        defer { close(file) }
        let bytes = Array(text.utf8)
        guard write(file, bytes, bytes.count) == bytes.count else { throw FolderError(errno) }
    }
    return try await body(FileReader(directory: folder), folder)
}

/// Saves a file as editors do: another one takes its name.
package func save(_ text: String, _ path: String) throws {
    let file = open("\(path).new", O_WRONLY | O_CREAT | O_TRUNC, 0o600)
    guard file >= 0 else { throw FolderError(errno) }
    let bytes = Array(text.utf8)
    let count = write(file, bytes, bytes.count)
    close(file)
    guard count == bytes.count, rename("\(path).new", path) == 0 else { throw FolderError(errno) }
}

struct FolderError: Error {
    let code: Int32

    init(_ code: Int32) { self.code = code }
}

private func removeAll(_ path: String) {
    // A link is removed, not followed.
    if unlink(path) == 0 { return }
    for name in (try? FileReader().names(in: path)) ?? [] { removeAll("\(path)/\(name)") }
    rmdir(path)
}
