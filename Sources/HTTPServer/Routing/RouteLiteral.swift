/// A literal segment of a route's path, in the tables of a `RouteTrie`.
struct RouteLiteral: Sendable {
    /// Where its text begins in the text of all literals, and its length.
    let start: Int
    let count: Int
    /// The node behind it.
    let node: Int
    /// Its first eight bytes, and a mask of those that count. Most literals are no longer, so one comparison is enough.
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

    /// Whether the literal is the whole segment that begins at `lower`, up to a slash or the end of the path.
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
