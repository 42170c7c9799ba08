/// Cuts bytes that come in pieces into lines. Of a line that is too long nothing is kept.
struct LineSplitter {
    enum Line: Equatable {
        case text([UInt8])
        case tooLong
        /// There is nothing in it. It counts, though, where lines are told by their numbers.
        case empty
    }

    private let limit: Int
    private var begun: [UInt8] = []
    private var isTooLong = false

    /// - Parameter limit: bytes of a line without its end.
    init(limit: Int) { self.limit = limit }

    /// The lines that end in this piece.
    mutating func lines(in piece: [UInt8]) -> [Line] {
        var lines: [Line] = []
        var rest = piece[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            add(rest[..<end])
            lines.append(finish() ?? .empty)
            rest = rest[(end + 1)...]
        }
        add(rest)
        return lines
    }

    /// What stands behind the last line end; nil when nothing does.
    mutating func finish() -> Line? {
        defer {
            begun = []
            isTooLong = false
        }
        if isTooLong { return .tooLong }
        return begun.isEmpty ? nil : .text(begun)
    }

    private mutating func add(_ bytes: ArraySlice<UInt8>) {
        guard !isTooLong else { return }
        if begun.count + bytes.count > limit {
            isTooLong = true
            begun = []
        } else {
            begun += bytes
        }
    }
}
