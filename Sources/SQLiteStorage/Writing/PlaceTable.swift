import Sessions

/// The index of journeys: the table `journeys` has for each session how many of its journeys stand at which place, and
/// `places` the name of each place and how many there are in all. For the writer's thread.
final class PlaceTable {
    private let selectRevision: SQLiteStatement
    private let select: SQLiteStatement
    private let put: SQLiteStatement
    private let delete: SQLiteStatement
    private let nameAndCount: SQLiteStatement
    private let count: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        selectRevision = try connection.prepare(
            "SELECT revision FROM sessions WHERE key = ?1 AND substr(state, 2, 8) = ?2")
        select = try connection.prepare("SELECT place, count FROM journeys WHERE session = ?1")
        put = try connection.prepare("REPLACE INTO journeys VALUES (?1, ?2, ?3)")
        delete = try connection.prepare("DELETE FROM journeys WHERE session = ?1 AND place = ?2")
        nameAndCount = try connection.prepare(
            "INSERT INTO places VALUES (?1, ?3, ?2) ON CONFLICT DO UPDATE SET count = count + ?2")
        count = try connection.prepare("UPDATE places SET count = count + ?2 WHERE id = ?1")
    }

    /// How many journeys more there are at places, with the names of those that may be new.
    private typealias Growth = [Int64: (name: String?, count: Int64)]

    /// - Returns: those that have another revision by now.
    func place(_ sessions: [PlacedSession]) throws(SQLiteError) -> [SessionID] {
        var (changed, growth) = ([SessionID](), Growth())
        for session in sessions {
            let revision = try revision(of: session.id)
            if revision == nil || revision == Int64(clamping: session.revision) {
                try set(session.id, to: revision == nil ? [] : session.places, &growth)
            } else {
                changed.append(session.id)
            }
        }
        try write(growth)
        return changed
    }

    func remove(_ session: SessionID) throws(SQLiteError) {
        var growth = Growth()
        try set(session, to: [], &growth)
        try write(growth)
    }

    private func revision(of id: SessionID) throws(SQLiteError) -> Int64? {
        try selectRevision.bind(1, id.key)
        try selectRevision.bind(2, blob: id.lowBytes)
        defer { selectRevision.reset() }
        return try selectRevision.step() ? selectRevision.int64(0) : nil
    }

    /// Puts journeys in the place of those that were there.
    private func set(
        _ session: SessionID, to places: [JourneyPlace], _ growth: inout Growth
    ) throws(SQLiteError) {
        let new = Dictionary(places.map { ($0.id, (name: $0.text, count: Int64(1))) }) {
            ($0.name, $0.count + $1.count)
        }
        let former = try self.former(session)
        for (id, count) in former where new[id] == nil {
            try delete.bind(1, session.key)
            try delete.bind(2, id)
            try delete.run()
            growth[id, default: (nil, 0)].count -= count
        }
        for (id, (name, count)) in new {
            let grown = count - (former.first { $0.id == id }?.count ?? 0)
            guard grown != 0 else { continue }
            try put.bind(1, session.key)
            try put.bind(2, id)
            try put.bind(3, count)
            try put.run()
            growth[id] = (name, grown + (growth[id]?.count ?? 0))
        }
    }

    private func write(_ growth: Growth) throws(SQLiteError) {
        for (id, (name, count)) in growth where count != 0 {
            let statement = name == nil ? self.count : nameAndCount
            try statement.bind(1, id)
            try statement.bind(2, count)
            if let name { try statement.bind(3, name) }
            try statement.run()
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
