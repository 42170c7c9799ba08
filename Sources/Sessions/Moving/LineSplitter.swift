/// Splits bytes that arrive in pieces into lines. Nothing of a line that is too long is kept.
struct LineSplitter {
    enum Line: Equatable {
        case text([UInt8])
        case tooLong
        /// An empty line. It still counts for line numbers.
        case empty
    }

    private let limit: Int
    private var begun: [UInt8] = []
    private var isTooLong = false

    /// - Parameter limit: bytes of a line without its end.
    init(limit: Int) { self.limit = limit }

    /// The lines that end in the piece.
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

    /// The bytes after the last line end; `nil` when there are none.
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
