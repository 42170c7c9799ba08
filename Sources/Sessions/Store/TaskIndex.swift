import Synchronization

/// The tasks of a memory store, found by id, by name and time, by session, and by the user whom they name.
struct TaskIndex {
    private var tasks: [TaskID: StoredTask] = [:]
    private var ofSession: [SessionID: [TaskID]] = [:]
    private var ofUser: [ExactText: Set<TaskID>] = [:]
    private var ready: [String: SortedTimes] = [:]
    private var over = SortedTimes()

    subscript(id: TaskID) -> StoredTask? { tasks[id] }

    mutating func apply(_ changes: [TaskChange]) {
        for change in changes {
            switch change {
            case .begun(let task): put(task)
            case .ended(let id): remove(id)
            }
        }
    }

    /// Adds a task, or puts it in the place of the one of its id.
    mutating func put(_ task: StoredTask) {
        if let former = tasks.updateValue(task, forKey: task.id) {
            ready[former.name]?.remove(former.readyAt, former.id)
            over.remove(former.overAt, former.id)
            if former.userID != nil { leaveUser(of: former) }
        } else {
            ofSession[task.id.session, default: []].append(task.id)
        }
        if let user = task.userID { ofUser[ExactText(user), default: []].insert(task.id) }
        if task.readyAt < .max { ready[task.name, default: SortedTimes()].insert(task.readyAt, task.id) }
        if task.overAt < .max { over.insert(task.overAt, task.id) }
    }

    mutating func remove(_ id: TaskID) {
        guard let task = tasks.removeValue(forKey: id) else { return }
        ofSession[id.session]?.removeAll { $0 == id }
        if ofSession[id.session]?.isEmpty == true { ofSession[id.session] = nil }
        ready[task.name]?.remove(task.readyAt, id)
        if ready[task.name]?.isEmpty == true { ready[task.name] = nil }
        over.remove(task.overAt, id)
        if task.userID != nil { leaveUser(of: task) }
    }

    private mutating func leaveUser(of task: StoredTask) {
        guard let user = task.userID.map(ExactText.init) else { return }
        ofUser[user]?.remove(task.id)
        if ofUser[user]?.isEmpty == true { ofUser[user] = nil }
    }

    /// All but its notices.
    mutating func removeAll(of session: SessionID) {
        for id in ofSession[session] ?? [] where !id.isNotice { remove(id) }
    }

    var isEmpty: Bool { tasks.isEmpty }

    mutating func claim(_ claim: TaskClaim) -> TaskClaims {
        guard let line = ready[claim.name] else { return TaskClaims(tasks: [], nextDue: nil) }
        var claimed = Array(
            line.upTo(claim.now).compactMap { [tasks] in tasks[$0] }.filter { $0.isReady(at: claim.now) }
                .prefix(claim.limit))
        for place in claimed.indices {
            claimed[place].claim(until: claim.end)
            put(claimed[place])
        }
        return TaskClaims(tasks: claimed, nextDue: ready[claim.name]?.first(after: claim.now))
    }

    func overdue(now: Int64, limit: Int) -> [StoredTask] { over.upTo(now).prefix(limit).compactMap { tasks[$0] } }

    func list(_ query: TaskQuery) -> [StoredTask] {
        let ids = query.session.map { ofSession[$0] ?? [] } ?? query.user.map { Array(ofUser[ExactText($0)] ?? []) }
        let candidates = ids.map { $0.compactMap { tasks[$0] } } ?? Array(tasks.values)
        let found = candidates.filter { task in
            query.fits(task) && (query.after.map { task.id > $0 } ?? true)
        }
        return Array(found.sorted { $0.id < $1.id }.prefix(query.limit))
    }
}

/// Ids in the order of times. Nearly always the newest time is the latest, so most inserts are at the end.
private struct SortedTimes {
    struct Entry {
        let time: Int64
        let id: TaskID
    }

    private var entries: [Entry] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func insert(_ time: Int64, _ id: TaskID) {
        entries.insert(Entry(time: time, id: id), at: place(after: time))
    }

    mutating func remove(_ time: Int64, _ id: TaskID) {
        var next = place(after: time) - 1
        while next >= 0, entries[next].time == time {
            if entries[next].id == id {
                entries.remove(at: next)
                return
            }
            next -= 1
        }
    }

    func upTo(_ time: Int64) -> LazyMapSequence<ArraySlice<Entry>, TaskID> {
        entries[..<place(after: time)].lazy.map(\.id)
    }

    func first(after time: Int64) -> Int64? {
        let place = place(after: time)
        return place < entries.count ? entries[place].time : nil
    }

    /// The first place whose time is later.
    private func place(after time: Int64) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].time <= time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
