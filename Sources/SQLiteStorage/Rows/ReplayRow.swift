import CSQLite
import Sessions
import Storage

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
