import Glibc
import Storage

/// What the end of the last run left uncertain. Readers apply it to every row that an earlier run wrote.
struct Recovery: Sendable {
    /// Rows of an earlier epoch may be older than the state that clients were shown, by revisions up to the floor.
    let epoch: UInt64
    let revisionFloor: UInt64
    /// A use before this time may be later than the file says, by up to `behind` milliseconds.
    let behindUntil: Int64
    let behind: Int64

    init(_ facts: StoreFacts) {
        epoch = UInt64(facts[.epoch])
        revisionFloor = UInt64(facts[.revisionFloor])
        behindUntil = facts[.behindUntil]
        behind = facts[.behind]
    }

    /// The latest time at which a session may have been used. So no session expires early.
    func lastUse(_ usedAt: Int64) -> Int64 {
        usedAt < behindUntil ? min(usedAt + behind, behindUntil) : usedAt
    }
}

extension StoreFacts {
    /// Begins a run: notes how the last one ended.
    ///
    /// - Parameters:
    ///   - isLogSuspect: whether commits may be missing from the end of SQLite's log.
    ///   - touchInterval: by how many milliseconds the store may be behind the uses of sessions.
    func beginRun(isLogSuspect: Bool, touchInterval: Int64, answersFirst: Bool) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if self[.running] > 0 {
            self[.behind] = self[.running]
            // Rounded up: no use of the last run may count as earlier than it was.
            self[.behindUntil] = Int64(now.tv_sec) * 1_000 + Int64(now.tv_nsec) / 1_000_000 + 1
        }
        let mayHaveLost = isLogSuspect || mayHaveLostResponses || self[.restored] == 1
        if mayHaveLost { raiseFloor() }
        self[.restored] = 0
        self[.boot] = FileIdentity.boot
        self[.running] = touchInterval + Self.timeToTell
        self[.answersFirst] = answersFirst ? 1 : 0
    }

    /// Before ``beginRun(isLogSuspect:touchInterval:answersFirst:)``: whether the last run sent responses before the
    /// sync and did not end in order.
    var mayHaveLostResponses: Bool { self[.running] > 0 && self[.answersFirst] == 1 }

    /// Before ``beginRun(isLogSuspect:touchInterval:answersFirst:)``: whether this machine runs since before the last
    /// run. Then the page cache has kept everything that the last run wrote, synced or not.
    var isSameBoot: Bool { self[.boot] != 0 && self[.boot] == FileIdentity.boot }

    /// Finds out the numbers as far as they follow from the sessions: the table is damaged.
    func derive(_ connection: SQLiteConnection, _ damage: DamageCount, touchInterval: Int64) throws(SQLiteError) {
        let rows = try connection.prepare("SELECT \(SessionRow.columns) FROM sessions WHERE key > ?1 ORDER BY key")
        var highest: UInt64 = 0
        self[.epoch] = 1
        _ = try KeyWalk(rows, after: nil, limit: .max, damage) { (row) throws(SQLiteError) in
            self[.sessions] += 1
            guard let row = SessionRow(row) else { return .damaged }
            highest = max(highest, row.revision, row.details.revisionFloor)
            self[.epoch] = max(self[.epoch], Int64(clamping: row.epoch) + 1)
            return .sound
        }
        // More than the file can have been ahead of its sessions: it is a stock ahead of the highest revision, and one
        // more for each start after a loss, and a session that has ended may have had a higher one.
        let floor = Int64(clamping: highest).addingReportingOverflow(64 * Self.stock).partialValue
        for name in [Name.revisionCeiling, .revisionFloor, .arrivalFloor] { self[name] = floor }
        self[.running] = touchInterval + Self.timeToTell
        do throws(SQLiteError) {
            self[.tasks] = try connection.number("SELECT count(*) FROM tasks NOT INDEXED") ?? 0
        } catch  where error.isDamage {
            // Any number but 0: the table is damaged as well, and made anew when it is used.
            self[.tasks] = 1
        }
        forgetStored()
    }

    /// In milliseconds: a use reaches the store with the next sweep, in its turn.
    static let timeToTell: Int64 = 5_000

    /// Every later revision is above all that may have been given, whatever was lost.
    func raiseFloor() {
        self[.revisionFloor] = self[.revisionCeiling] + Self.stock
        self[.revisionCeiling] = self[.revisionFloor]
        self[.arrivalFloor] = self[.revisionFloor]
        self[.epoch] += 1
    }
}
