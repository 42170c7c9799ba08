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
