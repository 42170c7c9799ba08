/// What a database with `auto_vacuum` notes of each page: <https://www.sqlite.org/fileformat2.html#pointer_map_or_ptrmap_pages>.
final class PointerMap {
    enum Entry: Equatable {
        case root
        case free
        /// A page of overflow belongs to a row, not to a tree.
        case overflow
        case child(of: UInt32)
    }

    private let pages: DatabasePages
    /// How many pages follow each page of the map, and are described by it.
    private let span: UInt32
    /// SQLite locks bytes of this page, and never uses it.
    private let lockPage: UInt32
    private var last: DatabasePage?
    private let isThere: Bool

    init(_ pages: DatabasePages) {
        self.pages = pages
        span = UInt32(pages.usable / 5)
        lockPage = UInt32((1 << 30) / SQLiteSchema.pageSize) + 1
        if let header = pages.header {
            isThere = header.hasPointerMaps
        } else {
            // Page 2 is the first of the map, and begins with the entry of the first root. A page of a tree begins with
            // another number.
            isThere = pages.page(2).map { $0.isSound && $0.bytes.starts(with: [1, 0, 0, 0, 0]) } ?? false
        }
    }

    /// Whether the page holds neither rows nor their overflow, wherever it is.
    func isMap(_ page: UInt32) -> Bool { page == lockPage || isThere && page == map(of: page) }

    /// Nil for a page that the map does not describe, or whose map is damaged.
    subscript(page: UInt32) -> Entry? {
        guard isThere, page > 2 else { return nil }
        let map = map(of: page)
        guard page > map else { return nil }
        if last?.number != map { last = pages.page(map) }
        guard let last, last.isSound else { return nil }
        let place = 5 * Int(page - map - 1)
        guard place + 5 <= pages.usable else { return nil }
        switch last.bytes[place] {
        case 1: return .root
        case 2: return .free
        case 3, 4: return .overflow
        case 5: return .child(of: last.bytes.word(place + 1))
        default: return nil
        }
    }

    private func map(of page: UInt32) -> UInt32 {
        guard page > 1 else { return 0 }
        let map = (page - 2) / (span + 1) * (span + 1) + 2
        return map == lockPage ? map + 1 : map
    }
}
