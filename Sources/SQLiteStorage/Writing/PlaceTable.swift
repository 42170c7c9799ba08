import Sessions

/// The index of journeys: the table `journeys` has for each session how many of its journeys stand at which place, and
/// `places` the name of each place and how many there are in all. For the writer's thread.
final class PlaceTable {
    private let select: SQLiteStatement
    private let put: SQLiteStatement
    private let delete: SQLiteStatement
    private let nameAndCount: SQLiteStatement
    private let count: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        select = try connection.prepare("SELECT place, count FROM journeys WHERE session = ?1")
        put = try connection.prepare("REPLACE INTO journeys VALUES (?1, ?2, ?3)")
        delete = try connection.prepare("DELETE FROM journeys WHERE session = ?1 AND place = ?2")
        nameAndCount = try connection.prepare(
            "INSERT INTO places VALUES (?1, ?2, ?3) ON CONFLICT DO UPDATE SET count = count + ?3")
        count = try connection.prepare("UPDATE places SET count = count + ?2 WHERE id = ?1")
    }

    /// Puts journeys in the place of those that were there.
    func set(_ session: SessionID, to places: [JourneyPlace]) throws(SQLiteError) {
        let new = Dictionary(places.map { ($0.id, (place: $0, count: Int64(1))) }) { ($0.place, $0.count + $1.count) }
        let former = try self.former(session)
        for (id, count) in former where new[id] == nil {
            try delete.bind(1, session.key)
            try delete.bind(2, id)
            try delete.run()
            try self.count.bind(1, id)
            try self.count.bind(2, -count)
            try self.count.run()
        }
        for (id, (place, count)) in new {
            let grown = count - (former.first { $0.id == id }?.count ?? 0)
            guard grown != 0 else { continue }
            try put.bind(1, session.key)
            try put.bind(2, id)
            try put.bind(3, count)
            try put.run()
            try nameAndCount.bind(1, id)
            try nameAndCount.bind(2, place.text)
            try nameAndCount.bind(3, grown)
            try nameAndCount.run()
        }
    }

    private func former(_ session: SessionID) throws(SQLiteError) -> [(id: Int64, count: Int64)] {
        try select.bind(1, session.key)
        defer { select.reset() }
        var former: [(id: Int64, count: Int64)] = []
        while try select.step() { former.append((select.int64(0), select.int64(1))) }
        return former
    }
}

extension JourneyPlace {
    /// 48 bits of FNV-1a, which SQLite keeps in six bytes: of a thousand places no two will ever share it.
    var id: Int64 {
        let hash = text.utf8.reduce(0xCBF2_9CE4_8422_2325) { ($0 ^ UInt64($1)) &* 0x0000_0100_0000_01B3 }
        return Int64(hash >> 16)
    }
}

/// Reads the index of journeys. For `SessionReader.strictly(_:)`.
struct PlaceReader {
    private let selectCounts: SQLiteStatement
    private let selectSessions: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        selectCounts = try connection.prepare("SELECT name, count FROM places WHERE count > 0")
        selectSessions = try connection.prepare(
            "SELECT session FROM journeys INDEXED BY journeys_at WHERE place = ?1 AND session >= ?2 "
                + "ORDER BY session LIMIT ?3")
    }

    func counts() throws(SQLiteError) -> [JourneyPlace: Int] {
        defer { selectCounts.reset() }
        var counts: [JourneyPlace: Int] = [:]
        while try selectCounts.step() {
            if let place = JourneyPlace(text: selectCounts.text(0)) { counts[place] = Int(selectCounts.int64(1)) }
        }
        return counts
    }

    /// The keys of the first sessions from `key` on.
    func sessions(at places: [JourneyPlace], from key: Int64, limit: Int) throws(SQLiteError) -> [Int64] {
        defer { selectSessions.reset() }
        var keys: Set<Int64> = []
        for place in places {
            selectSessions.reset()
            try selectSessions.bind(1, place.id)
            try selectSessions.bind(2, key)
            try selectSessions.bind(3, Int64(limit))
            while try selectSessions.step() { keys.insert(selectSessions.int64(0)) }
        }
        return Array(keys.sorted().prefix(limit))
    }
}
