import CSQLite
import Sessions
import Storage

/// Writes the table `replays`, in the transaction of the session that a response belongs to, and `lone_replays`. For
/// the writer's thread.
///
/// Both are rowid tables: responses of a kilobyte have their place on a page, where an index by session would put each
/// on a page of its own, and rows that come together share pages. Their `place` is also the order in which they end,
/// as long as the configured time stays the same, so to remove the ended ones needs no index.
final class ReplayTable {
    static let sql = "\(replays)\n\(loneReplays)"

    /// What is damaged of the two tables is made anew, and empty: then a copy of a request may be executed again. Only
    /// an expression that needs the bytes makes SQLite read the pages that a response continues on.
    static let derived = [
        DerivedObject(
            name: "replays", sql: replays, probe: "SELECT sum(length(hex(response))) FROM replays NOT INDEXED"),
        DerivedObject(
            name: "replays_by_id", sql: replaysByID, probe: "SELECT count(id) FROM replays INDEXED BY replays_by_id"),
        DerivedObject(
            name: "lone_replays", sql: loneReplays,
            probe: "SELECT sum(length(hex(response))) FROM lone_replays NOT INDEXED"),
        DerivedObject(
            name: "lone_replays_by_id", sql: loneReplaysByID,
            probe: "SELECT count(id) FROM lone_replays INDEXED BY lone_replays_by_id"),
    ]

    private static let replays = """
        CREATE TABLE replays (                       -- responses that sessions keep: see Replay
            place       INTEGER PRIMARY KEY,         -- consecutive
            session     INTEGER NOT NULL,            -- the key of the session
            id          BLOB    NOT NULL,
            fingerprint BLOB    NOT NULL,
            ends_at     INTEGER NOT NULL,
            size        INTEGER NOT NULL,            -- the bytes that it counts for
            response    BLOB    NOT NULL             -- sealed
        ) STRICT;
        \(replaysByID)
        """
    private static let replaysByID = "CREATE UNIQUE INDEX replays_by_id ON replays (session, id);"
    private static let loneReplays = """
        CREATE TABLE lone_replays (                  -- those of requests that name no session: see LoneReplay
            place       INTEGER PRIMARY KEY,         -- above that of the one before by the keys that it counts for
            id          BLOB    NOT NULL,
            fingerprint BLOB    NOT NULL,
            ends_at     INTEGER NOT NULL,
            session     BLOB,                        -- the id of the session that the request made
            response    BLOB                         -- sealed
        ) STRICT;
        \(loneReplaysByID)
        """
    private static let loneReplaysByID = "CREATE UNIQUE INDEX lone_replays_by_id ON lone_replays (id);"

    private let insert: SQLiteStatement
    private let delete: SQLiteStatement
    private let deleteOfSession: SQLiteStatement
    private let selectLone: SQLiteStatement
    private let insertLone: SQLiteStatement
    private let deleteClaim: SQLiteStatement
    private let deleteLone: SQLiteStatement
    private let ended: [(oldest: SQLiteStatement, delete: SQLiteStatement)]

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        // REPLACE, since a session that was damaged may have left one of the same id.
        insert = try connection.prepare(
            "REPLACE INTO replays (session, id, fingerprint, ends_at, size, response) VALUES (?1, ?2, ?3, ?4, ?5, ?6)")
        delete = try connection.prepare("DELETE FROM replays WHERE session = ?1 AND id = ?2")
        deleteOfSession = try connection.prepare("DELETE FROM replays WHERE session = ?1")
        selectLone = try connection.prepare(LoneReplayRow.select)
        insertLone = try connection.prepare(
            """
            REPLACE INTO lone_replays (id, fingerprint, ends_at, session, response, place)
            VALUES (?1, ?2, ?3, ?4, ?5, (SELECT coalesce(max(place), 0) FROM lone_replays) + ?6)
            """)
        deleteClaim = try connection.prepare("DELETE FROM lone_replays WHERE id = ?1")
        deleteLone = try connection.prepare(
            "DELETE FROM lone_replays WHERE place <= (SELECT max(place) FROM lone_replays) - ?1")
        var ended: [(oldest: SQLiteStatement, delete: SQLiteStatement)] = []
        for table in ["replays", "lone_replays"] {
            ended.append(
                (
                    try connection.prepare("SELECT place, ends_at FROM \(table) ORDER BY place LIMIT ?1"),
                    try connection.prepare("DELETE FROM \(table) WHERE place <= ?1")
                ))
        }
        self.ended = ended
    }

    func apply(_ change: ReplayChange, of session: SessionID) throws(SQLiteError) {
        for entry in change.removed {
            try delete.bind(1, session.key)
            try delete.bind(2, blob: entry.id.bytes)
            try delete.run()
        }
        let entry = change.added.entry
        try insert.bind(1, session.key)
        try insert.bind(2, blob: entry.id.bytes)
        try insert.bind(3, blob: entry.fingerprint.bytes)
        try insert.bind(4, entry.endsAt)
        try insert.bind(5, Int64(entry.size))
        try insert.bind(6, blob: change.added.response)
        try insert.run()
    }

    func removeAll(of session: SessionID) throws(SQLiteError) {
        try deleteOfSession.bind(1, session.key)
        try deleteOfSession.run()
    }

    /// Returns the one that is there already.
    func keep(_ replay: LoneReplay, now: Int64, atMost limit: Int) throws(SQLiteError) -> LoneReplay? {
        if let other = try LoneReplayRow.read(selectLone, replay.id, now: now) { return other }
        try insertLone.bind(1, blob: replay.id.bytes)
        try insertLone.bind(2, blob: replay.fingerprint.bytes)
        try insertLone.bind(3, replay.endsAt)
        try insertLone.bind(4, nil)
        try insertLone.bind(5, nil)
        switch replay.content {
        case .session(let id): try insertLone.bind(4, blob: id.bytes)
        case .response(let response): try insertLone.bind(5, blob: response)
        }
        try insertLone.bind(6, Int64(replay.content.keys))
        try insertLone.run()
        try deleteLone.bind(1, Int64(limit))
        try deleteLone.run()
        return nil
    }

    /// Removes it: the session was not created.
    func giveUp(_ claim: LoneReplay) throws(SQLiteError) {
        try deleteClaim.bind(1, blob: claim.id.bytes)
        try deleteClaim.run()
    }

    /// Removes some of those whose time is over: the oldest, up to the first whose time is not.
    func removeEnded(now: Int64) throws(SQLiteError) {
        for (oldest, delete) in ended {
            try oldest.bind(1, Self.step)
            var last: Int64?
            while try oldest.step(), oldest.int64(1) <= now { last = oldest.int64(0) }
            oldest.reset()
            guard let last else { continue }
            try delete.bind(1, last)
            try delete.run()
        }
    }

    /// More than come in a second of full load, and a few milliseconds' work.
    private static let step: Int64 = 20_000
}

extension SessionID {
    /// In big-endian order.
    fileprivate var bytes: [UInt8] { withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { Array($0) } }
}

/// Reads the table `replays`, which the writer's ``ReplayTable`` writes, and `lone_replays`.
struct ReplayReader {
    private let selectEntries: SQLiteStatement
    private let selectResponse: SQLiteStatement
    private let selectLone: SQLiteStatement

    init(_ connection: SQLiteConnection) throws(SQLiteError) {
        selectEntries = try connection.prepare(
            "SELECT id, fingerprint, ends_at, size FROM replays WHERE session = ?1 ORDER BY place")
        selectResponse = try connection.prepare("SELECT response FROM replays WHERE session = ?1 AND id = ?2")
        selectLone = try connection.prepare(LoneReplayRow.select)
    }

    /// What a session in memory knows of its replays. Without those that cannot be read the session is what it was, and
    /// a copy of their requests is executed as a new one.
    func entries(of session: SessionRow, _ damage: DamageCount) throws(SQLiteError) -> [ReplayEntry] {
        // Most sessions have none, and then this costs nothing.
        guard session.replayBytes > 0 else { return [] }
        var entries: [ReplayEntry] = []
        do throws(SQLiteError) {
            try selectEntries.bind(1, session.id.key)
            defer { selectEntries.reset() }
            while try selectEntries.step() {
                guard let id = ShortDigest(bytes: selectEntries.bytes(0)),
                    let fingerprint = ShortDigest(bytes: selectEntries.bytes(1))
                else { continue }
                entries.append(
                    ReplayEntry(
                        id: id, fingerprint: fingerprint, endsAt: selectEntries.int64(2),
                        size: Int(selectEntries.int64(3))))
            }
        } catch  where error.primaryCode == SQLITE_CORRUPT {
            damage.note(
                "Pages of the table replays are damaged (\(error)): requests of \(session.id) that are repeated with "
                    + "their idempotency key may be executed again.")
        }
        return entries
    }

    func response(_ id: ShortDigest, of session: SessionID) throws(SQLiteError) -> [UInt8]? {
        try selectResponse.bind(1, session.key)
        try selectResponse.bind(2, blob: id.bytes)
        defer { selectResponse.reset() }
        return try selectResponse.step() ? Array(selectResponse.bytes(0)) : nil
    }

    func loneReplay(_ id: ShortDigest, now: Int64) throws(SQLiteError) -> LoneReplay? {
        try LoneReplayRow.read(selectLone, id, now: now)
    }
}

/// A row of the table `lone_replays`.
enum LoneReplayRow {
    static let select = "SELECT fingerprint, ends_at, session, response FROM lone_replays WHERE id = ?1"

    /// `nil` when there is none, or its time is over.
    static func read(_ row: SQLiteStatement, _ id: ShortDigest, now: Int64) throws(SQLiteError) -> LoneReplay? {
        try row.bind(1, blob: id.bytes)
        defer { row.reset() }
        guard try row.step(), row.int64(1) > now, let fingerprint = ShortDigest(bytes: row.bytes(0)) else { return nil }
        let session = row.bytes(2)
        let content: LoneReplay.Content =
            if session.count == 16 {
                .session(
                    SessionID(
                        high: UInt64(bigEndian: session.loadUnaligned(as: UInt64.self)),
                        low: UInt64(bigEndian: session.loadUnaligned(fromByteOffset: 8, as: UInt64.self))))
            } else {
                .response(Array(row.bytes(3)))
            }
        return LoneReplay(id: id, fingerprint: fingerprint, endsAt: row.int64(1), content: content)
    }
}
