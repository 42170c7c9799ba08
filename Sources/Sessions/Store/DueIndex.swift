/// The due times of a memory store's sessions (``SessionTimes/dueAt``).
///
/// A change leaves an entry behind, which is dropped when it comes up, or when most entries are such.
struct DueIndex {
    private var times: [SessionID: Int64] = [:]
    private var heap = ExpiryIndex()

    /// - Parameter time: `.max` for never.
    mutating func set(_ id: SessionID, to time: Int64) {
        guard time < .max else {
            times[id] = nil
            return compactIfStale()
        }
        guard times.updateValue(time, forKey: id) != time else { return }
        heap.insert(id, deadline: time)
        compactIfStale()
    }

    /// Those that are due, the earliest first.
    mutating func due(now: Int64, limit: Int) -> [DueSession] {
        var (due, seen) = ([DueSession](), Set<SessionID>())
        while due.count < limit, let entry = heap.popDue(now: now) {
            // A time that was left and came back has two entries.
            guard times[entry.id] == entry.deadline, seen.insert(entry.id).inserted else { continue }
            due.append(DueSession(id: entry.id, dueAt: entry.deadline))
        }
        // They are due until they are changed.
        for session in due { heap.insert(session.id, deadline: session.dueAt) }
        return due
    }

    /// - Returns: false when it has another time.
    mutating func putOff(_ due: DueSession, to time: Int64) -> Bool {
        guard times[due.id] == due.dueAt else { return false }
        set(due.id, to: time)
        return true
    }

    private mutating func compactIfStale() {
        guard heap.count > 2 * times.count + 64 else { return }
        heap = ExpiryIndex(times.lazy.map { ExpiryIndex.Entry(deadline: $0.value, id: $0.key) })
    }
}
