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

/// What a cell of a b-tree holds, with what overflows to other pages:
/// <https://www.sqlite.org/fileformat2.html#b_tree_pages>.
struct Cell {
    /// In a table with row ids: the id.
    let key: Int64
    /// As much as can be read.
    let payload: [UInt8]
    /// Whether all pages that it lies on are as they were written.
    let isSound: Bool
    /// The page on which the rest would be.
    let missing: UInt32?
}

struct CellReader {
    let pages: DatabasePages

    /// The cell at an offset; nil when it is none, or an inner page's without a row.
    func cell(at offset: Int, on page: TreePage) -> Cell? {
        guard page.kind != .innerTable else { return nil }
        let (bytes, usable) = (page.page.bytes, pages.usable)
        var place = offset + (page.kind == .innerIndex ? 4 : 0)
        // A row is not longer than the file.
        guard let length = Record.varint(bytes, &place).flatMap(Int.init(exactly:)),
            length <= Int(pages.count) * SQLiteSchema.pageSize
        else { return nil }
        var key: Int64 = 0
        if page.kind == .leafTable {
            guard let number = Record.varint(bytes, &place) else { return nil }
            key = Int64(bitPattern: number)
        }
        let local = Self.local(length, usable, isOfTable: page.kind == .leafTable)
        guard place + local + (local < length ? 4 : 0) <= usable else { return nil }
        var payload = Array(bytes[place..<place + local])
        var (isSound, next) = (page.page.isSound, UInt32(0))
        if local < length { next = bytes.word(place + local) }
        while payload.count < length {
            // The length bounds the steps, so a chain that leads back to itself ends.
            guard let overflow = pages.page(next), overflow.isSound || overflow.bytes.contains(where: { $0 != 0 })
            else {
                return Cell(key: key, payload: payload, isSound: false, missing: next)
            }
            payload.append(contentsOf: overflow.bytes[4..<4 + min(length - payload.count, usable - 4)])
            isSound = isSound && overflow.isSound
            next = overflow.bytes.word(0)
        }
        return Cell(key: key, payload: payload, isSound: isSound, missing: nil)
    }

    /// How many bytes of a payload are on the page itself.
    private static func local(_ length: Int, _ usable: Int, isOfTable: Bool) -> Int {
        let most = isOfTable ? usable - 35 : (usable - 12) * 64 / 255 - 23
        guard length > most else { return length }
        let least = (usable - 12) * 32 / 255 - 23
        let rest = least + (length - least) % (usable - 4)
        return rest <= most ? rest : least
    }
}
