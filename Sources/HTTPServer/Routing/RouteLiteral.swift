/// A segment of a path that a route has as it stands, in the tables of a `RouteTrie`.
struct RouteLiteral: Sendable {
    /// Where its text begins among those of all literals, and how long it is.
    let start: Int
    let count: Int
    /// The node behind it.
    let node: Int
    /// Its first eight bytes, and which bits of those count: most literals are not longer, and then one comparison is
    /// all.
    private let word: UInt64
    private let mask: UInt64

    private static let wordBytes = 8

    init(start: Int, text: [UInt8], node: Int) {
        self.start = start
        count = text.count
        self.node = node
        var bytes = text.prefix(Self.wordBytes)
        mask = bytes.count == Self.wordBytes ? .max : (1 << UInt64(8 * bytes.count)) - 1
        bytes += [UInt8](repeating: 0, count: Self.wordBytes - bytes.count)
        word = bytes.withUnsafeBytes { UInt64(littleEndian: $0.loadUnaligned(as: UInt64.self)) }
    }

    /// Whether it is the whole segment that begins there, up to a slash or the path's end.
    /// - Parameter text: of all literals.
    func fills(_ path: UnsafeRawBufferPointer, at lower: Int, text: UnsafeRawBufferPointer) -> Bool {
        let upper = lower &+ count
        guard upper <= path.count, upper == path.count || path[upper] == UInt8(ascii: "/") else { return false }
        var place = 0
        if lower &+ Self.wordBytes <= path.count {
            let start = path.loadUnaligned(fromByteOffset: lower, as: UInt64.self)
            guard UInt64(littleEndian: start) & mask == word else { return false }
            place = min(Self.wordBytes, count)
        }
        while place < count, text[start &+ place] == path[lower &+ place] { place &+= 1 }
        return place == count
    }
}
