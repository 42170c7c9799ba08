/// A page of a b-tree: <https://www.sqlite.org/fileformat2.html#b_tree_pages>. Cells that lead out of the page are left
/// out.
struct TreePage {
    enum Kind: UInt8 {
        case innerIndex = 2
        case innerTable = 5
        case leafIndex = 10
        case leafTable = 13

        var isInner: Bool { self == .innerIndex || self == .innerTable }
        var isOfTable: Bool { self == .innerTable || self == .leafTable }
    }

    let page: DatabasePage
    let kind: Kind
    /// The offsets of the cells, in the order of their keys.
    let cells: [Int]
    /// Whether all of its cells are among them.
    let isWhole: Bool
    /// Of an inner page: the pages below it, in the order of their keys.
    let children: [UInt32]

    /// Nil when it is not a page of a tree.
    init?(_ page: DatabasePage, usable: Int) {
        let start = page.number == 1 ? DatabaseHeader.size : 0
        guard let kind = Kind(rawValue: page.bytes[start]) else { return nil }
        func short(_ place: Int) -> Int { Int(page.bytes[place]) << 8 | Int(page.bytes[place + 1]) }
        let first = start + (kind.isInner ? 12 : 8)
        let end = first + 2 * short(start + 3)
        // The shortest cell has four bytes.
        guard end <= usable - 4 || end == first else { return nil }
        let places = stride(from: first, to: end, by: 2).map(short)
        let cells = places.filter { $0 >= end && $0 <= usable - 4 }
        isWhole = cells.count == places.count
        self.page = page
        self.kind = kind
        self.cells = cells
        children =
            kind.isInner
            ? cells.map { page.bytes.word($0) } + [page.bytes.word(start + 8)] : []
    }
}

extension [UInt8] {
    /// Four bytes as a number, the highest first, as in all of SQLite's files.
    func word(_ offset: Int) -> UInt32 {
        withUnsafeBytes { UInt32(bigEndian: $0.loadUnaligned(fromByteOffset: offset, as: UInt32.self)) }
    }
}
