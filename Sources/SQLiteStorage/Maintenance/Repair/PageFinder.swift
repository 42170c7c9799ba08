/// Finds the pages of the trees of a database, whatever page is damaged. Pages that are free, and pages behind the end
/// of the database, are never taken for pages of a tree: rows that were deleted do not come back.
///
/// A tree is walked from its root, through inner pages that match their checksums. What lies below a damaged inner page
/// is known from the pointer map, in which each page names its parent. A page that the map does not describe (the map
/// has a damaged page, or the file has no map) belongs to a damaged tree if no tree has it and it is not free.
final class PageFinder {
    /// A page of a tree that cannot be read, or not be relied on.
    struct Lost {
        let page: UInt32
        /// The place of its table.
        let table: Int
        /// Whether pages below it were found.
        var isInner = false
    }

    typealias Visit = (TreePage, _ table: Int) throws(SQLiteError) -> Void

    /// By their numbers.
    private(set) var lost: [UInt32: Lost] = [:]
    private let pages: DatabasePages
    private let map: PointerMap
    private let cells: CellReader
    private let tables: [RepairedTable]
    private var seen: [Bool]
    private var newlyLost: Set<UInt32> = []

    init(_ pages: DatabasePages, tables: [RepairedTable]) {
        self.pages = pages
        self.tables = tables
        map = PointerMap(pages)
        cells = CellReader(pages: pages)
        seen = Array(repeating: false, count: Int(pages.count) + 1)
    }

    /// Visits the pages of a tree, in the order of its keys.
    func walk(from top: UInt32, of table: Int, _ visit: Visit) throws(SQLiteError) {
        var waiting = [top]
        while let number = waiting.popLast() {
            guard isThere(number) else {
                lose(number, of: table)
                continue
            }
            guard !seen[Int(number)] else { continue }
            seen[Int(number)] = true
            guard let page = pages.page(number), let tree = TreePage(page, usable: pages.usable),
                tree.kind.isOfTable == tables[table].hasRowID, page.isSound || !tree.kind.isInner
            else {
                lose(number, of: table)
                continue
            }
            if !page.isSound || !tree.isWhole { lose(number, of: table) }
            waiting.append(contentsOf: tree.children.reversed())
            try visit(tree, table)
        }
    }

    /// Visits what lies below lost pages.
    func walkBelowLost(_ visit: Visit) throws(SQLiteError) {
        while !newlyLost.isEmpty {
            let parents = newlyLost
            newlyLost = []
            for number in unseen {
                guard case .child(of: let parent) = map[number], parents.contains(parent), let above = lost[parent]
                else { continue }
                lost[parent]?.isInner = true
                try walk(from: number, of: above.table, visit)
            }
        }
        try walkOrphans(visit)
    }

    /// Visits pages that nothing describes and no tree has, when a tree has a lost page.
    private func walkOrphans(_ visit: Visit) throws(SQLiteError) {
        let places = Set(lost.values.map(\.table))
        guard !places.isEmpty, let free = freePages() else { return }
        var (orphans, below) = ([UInt32](), Set<UInt32>())
        for number in unseen where map[number] == nil && !map.isMap(number) && !free.contains(number) {
            guard let tree = soundTree(number) else { continue }
            orphans.append(number)
            below.formUnion(tree.children)
        }
        for number in orphans where !below.contains(number) {
            guard let place = places.first(where: { holds(number, rowsOf: tables[$0]) }) else { continue }
            let above = lost.values.filter { $0.table == place }
            // Of several lost pages it is not known which one led here.
            if above.count == 1, let page = above.first?.page { lost[page]?.isInner = true }
            try walk(from: number, of: place, visit)
        }
    }

    /// The root of a table whose row of the schema is lost; nil for a table without rows.
    func root(of table: RepairedTable) -> UInt32? {
        // With a map the roots are the first pages; without one the tables were made before any row was.
        candidates.first { holds($0, rowsOf: table) }
    }

    /// Roots of tables or indexes that cannot be read, when the schema does not name them.
    var lostRoots: [UInt32] { candidates.filter { map[$0] == .root && soundTree($0) == nil } }

    private var candidates: [UInt32] {
        guard pages.count > 1 else { return [] }
        return (2...min(pages.count, 64)).filter { number in
            !seen[Int(number)] && !map.isMap(number) && (map[number] == .root || map[number] == nil)
        }
    }

    private func holds(_ number: UInt32, rowsOf table: RepairedTable) -> Bool {
        var number = number
        // No tree is as deep.
        for _ in 0..<20 {
            guard let tree = soundTree(number), tree.kind.isOfTable == table.hasRowID else { return false }
            guard tree.kind == .innerTable else {
                guard let first = tree.cells.first, let cell = cells.cell(at: first, on: tree) else { return false }
                return Record(cell.payload, isCut: cell.missing != nil).map(table.fits) ?? false
            }
            number = tree.children[0]
        }
        return false
    }

    private func soundTree(_ number: UInt32) -> TreePage? {
        pages.page(number).flatMap { $0.isSound ? TreePage($0, usable: pages.usable) : nil }
    }

    private var unseen: some Sequence<UInt32> { (1..<UInt32(seen.count)).lazy.filter { [self] in !seen[Int($0)] } }

    private func isThere(_ number: UInt32) -> Bool { number > 0 && number <= pages.count }

    private func lose(_ number: UInt32, of table: Int) {
        guard lost[number] == nil else { return }
        lost[number] = Lost(page: number, table: table)
        newlyLost.insert(number)
    }

    /// The pages of the freelist (<https://www.sqlite.org/fileformat2.html#the_freelist>); nil when it cannot be read to
    /// its end.
    private func freePages() -> Set<UInt32>? {
        guard let header = pages.header else { return nil }
        var (free, next) = (Set<UInt32>(), header.firstFreePage)
        while next != 0 {
            guard free.insert(next).inserted, let trunk = pages.page(next), trunk.isSound else { return nil }
            let listed = 0..<min(Int(trunk.bytes.word(4)), pages.usable / 4 - 2)
            free.formUnion(listed.map { trunk.bytes.word(8 + 4 * $0) })
            next = trunk.bytes.word(0)
        }
        return free.count == Int(header.freePages) ? free : nil
    }
}

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
