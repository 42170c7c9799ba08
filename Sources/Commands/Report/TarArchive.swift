/// An archive of small files in the format `ustar` (POSIX.1-2017, pax).
struct TarArchive {
    private var bytes: [UInt8] = []
    private static let block = 512

    /// - Parameters:
    ///   - name: at most 100 bytes.
    ///   - time: seconds since 1970.
    mutating func add(_ name: String, _ content: [UInt8], changedAt time: Int64) {
        var header = [UInt8](repeating: 0, count: Self.block)
        func put(_ text: String, at place: Int) {
            header.replaceSubrange(place..<place + text.utf8.count, with: text.utf8)
        }
        func put(_ number: Int64, digits: Int, at place: Int) {
            let octal = String(number, radix: 8)
            put(String(repeating: "0", count: digits - octal.count) + octal, at: place)
        }
        precondition(name.utf8.count <= 100, "\(name) is too long for a header")
        put(name, at: 0)
        put(0o600, digits: 7, at: 100)
        put(0, digits: 7, at: 108)
        put(0, digits: 7, at: 116)
        put(Int64(content.count), digits: 11, at: 124)
        put(time, digits: 11, at: 136)
        // An ordinary file.
        put("0", at: 156)
        put("ustar\u{0}00", at: 257)
        // The sum is of a header with blanks in its place.
        put("        ", at: 148)
        put(header.reduce(0) { $0 + Int64($1) }, digits: 6, at: 148)
        header[154] = 0
        bytes += header + content
        bytes += [UInt8](repeating: 0, count: (Self.block - content.count % Self.block) % Self.block)
    }

    /// With the two empty blocks that end an archive.
    var whole: [UInt8] { bytes + [UInt8](repeating: 0, count: 2 * Self.block) }
}
