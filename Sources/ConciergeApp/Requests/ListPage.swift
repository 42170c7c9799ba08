import API
import HTTPServer
import JSONDocument
import Sessions

/// The requested part of a list: `?limit=1..100&cursor=…`.
struct PageRequest {
    static let defaultLimit = 50

    let limit: Int
    /// As it was sent. Each kind of list reads it in its own way.
    let cursorText: String?

    /// - Throws: `Problem` 400 `invalid_input`.
    init(_ request: HTTPRequest) throws {
        var query = try QueryReader(request)
        try self.init(&query)
    }

    /// For an endpoint that has read other arguments.
    init(_ query: inout QueryReader) throws(Problem) {
        limit = query.integer(.limit, in: 1...100) ?? Self.defaultLimit
        cursorText = query.text(.cursor)
        try query.check()
    }

    /// Whether it is the page of a request without arguments.
    var isFirst: Bool { limit == Self.defaultLimit && cursorText == nil }

    /// For a list of sessions.
    /// - Throws: ``SessionError/malformedCursor``.
    var cursor: SessionCursor? {
        get throws { try cursorText.map { try SessionCursor(text: $0) } }
    }
}

/// A page of a list that is in memory as a whole.
struct ListPage<Item> {
    let items: ArraySlice<Item>
    /// The cursor of the next page; `nil` on the last one.
    let next: String?

    /// - Parameter name: identifies an item of the list.
    /// - Throws: ``SessionError/malformedCursor``.
    init(of all: [Item], _ request: PageRequest, named name: (Item) -> String) throws(SessionError) {
        var start = 0
        if let text = request.cursorText {
            guard let cursor = ListCursor(text) else { throw .malformedCursor }
            start = cursor.place(among: all, named: name)
        }
        self.init(of: all, from: start, limit: request.limit, named: name)
    }

    /// The page of a request without arguments.
    init(firstOf all: [Item], named name: (Item) -> String) {
        self.init(of: all, from: 0, limit: PageRequest.defaultLimit, named: name)
    }

    private init(of all: [Item], from start: Int, limit: Int, named name: (Item) -> String) {
        let end = min(start + limit, all.count)
        items = all[start..<end]
        next = end < all.count ? ListCursor(count: end, last: name(all[end - 1])).text : nil
    }
}

/// Where a page of a list ended: the number of items so far, and a digest of the last one's name. So the next page
/// begins after that item even when earlier items were removed or added.
private struct ListCursor: Equatable {
    let count: Int
    let digest: UInt64

    init(count: Int, last name: String) {
        self.count = count
        digest = Self.digest(of: name)
    }

    /// `nil` for anything except a cursor.
    init?(_ text: String) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let count = Int(parts[0], radix: 36), let digest = UInt64(parts[1], radix: 36) else {
            return nil
        }
        self.count = count
        self.digest = digest
        // One spelling each: no signs, no leading zeros.
        guard count > 0, self.text == text else { return nil }
    }

    var text: String { "\(String(count, radix: 36))-\(String(digest, radix: 36))" }

    /// Where the next page begins. If the last item of the previous page is gone, the next item has its index.
    func place<Item>(among all: [Item], named name: (Item) -> String) -> Int {
        if count <= all.count, Self.digest(of: name(all[count - 1])) == digest { return count }
        if let last = all.firstIndex(where: { Self.digest(of: name($0)) == digest }) { return last + 1 }
        return min(count - 1, all.count)
    }

    /// FNV-1a: it only has to distinguish the names of one list.
    private static func digest(of name: String) -> UInt64 {
        name.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
    }
}

extension JSONWriter {
    /// The members of a page: `items`, and `next` unless it is the last.
    mutating func page<Item>(_ page: ListPage<Item>, item: (inout JSONWriter, Item) -> Void) {
        array("items") { json in
            for element in page.items { item(&json, element) }
        }
        if let next = page.next { member("next", next) }
    }
}
