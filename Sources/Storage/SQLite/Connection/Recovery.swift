import CSQLite
import Glibc
import Sessions

/// What the end of the run before has left unsure, as every row that was written before is read from now on.
struct Recovery: Sendable {
    /// Rows of an epoch before this one may be older than what was answered, up to this revision.
    let epoch: UInt64
    let revisionFloor: UInt64
    /// Uses before this time may be so many milliseconds later than the file says.
    let behindUntil: Int64
    let behind: Int64

    init(_ facts: StoreFacts) {
        epoch = UInt64(facts[.epoch])
        revisionFloor = UInt64(facts[.revisionFloor])
        behindUntil = facts[.behindUntil]
        behind = facts[.behind]
    }

    /// When a session was last used, at the latest: nothing expires earlier than it would have.
    func lastUse(_ usedAt: Int64) -> Int64 {
        usedAt < behindUntil ? min(usedAt + behind, behindUntil) : usedAt
    }
}

extension StoreFacts {
    /// The beginning of a run: takes note of how the one before has ended.
    ///
    /// - Parameters:
    ///   - isLogSuspect: whether commits may be missing from the end of SQLite's log.
    ///   - touchInterval: by how many milliseconds the store may be behind the uses of sessions.
    func beginRun(isLogSuspect: Bool, touchInterval: Int64, answersFirst: Bool) {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        if self[.running] > 0 {
            self[.behind] = self[.running]
            self[.behindUntil] = Int64(now.tv_sec) * 1_000
        }
        let mayBeBehind = self[.running] > 0 && self[.answersFirst] == 1
        var isFloorDue = isLogSuspect || mayBeBehind || self[.restored] == 1
        #if PLANTED_BUGS
            if PlantedBug.floorForgotten.isActive { isFloorDue = false }
            if PlantedBug.usesNotLate.isActive { self[.behind] = 0 }
        #endif
        if isFloorDue { raiseFloor() }
        self[.restored] = 0
        self[.running] = touchInterval + Self.timeToTell
        self[.answersFirst] = answersFirst ? 1 : 0
    }

    /// In milliseconds: a use that is to be told waits for the next sweep, and for its turn.
    private static let timeToTell: Int64 = 5_000

    /// What follows gets revisions that were never given before, whatever was lost.
    func raiseFloor() {
        self[.revisionFloor] = self[.revisionCeiling] + Self.stock
        self[.revisionCeiling] = self[.revisionFloor]
        self[.arrivalFloor] = self[.revisionFloor]
        self[.epoch] += 1
    }

    /// The end of a run, with all uses told.
    func endRun() {
        self[.running] = 0
    }
}
