/// A part of the registry.
struct RegistryShard {
    var sessions: [SessionID: Session] = [:]
    var expiry = ExpiryIndex()
    /// Uses that the store must be told of or is being told of. Until the store has them, they stand for sessions that
    /// have left memory.
    var uses: [SessionID: Int64] = [:]
    var savingUses: [SessionID: Int64] = [:]
    /// The sessions that are being loaded.
    var loads: [SessionID: SessionLoad] = [:]

    /// Not inlined: inlining retains the table for each look-up.
    @inline(never)
    func session(_ id: SessionID) -> Session? { sessions[id] }

    /// Drops the index entries of ended sessions when they are the majority.
    mutating func compactIfStale() {
        // Fewer are not worth it.
        if expiry.count > 2 * sessions.count + 64 { expiry.compact { sessions[$0] != nil } }
    }

    mutating func noteUse(_ id: SessionID, at time: Int64) {
        uses[id] = max(uses[id] ?? time, time)
    }

    /// Whether a session that is not in memory is being loaded, or was used later than the store knows.
    func isAboutToChange(_ id: SessionID) -> Bool { loads[id] != nil || unsavedUse(of: id) != nil }

    /// A use that the store may not know yet.
    func unsavedUse(of id: SessionID) -> Int64? {
        guard !uses.isEmpty || !savingUses.isEmpty else { return nil }
        return [uses[id], savingUses[id]].compactMap(\.self).max()
    }
}

/// The times at which sessions must be looked at: a binary heap, the earliest on top.
///
/// A session that is used expires later, but its entry stays where it is. When the entry comes up, it goes back in with
/// the later time. So a use costs nothing here, and a session in constant use costs one move for each idle timeout.
/// Ended sessions leave their entries behind; see ``compact(keeping:)``.
struct ExpiryIndex: Sendable {
    private var heap: [Entry] = []

    init() {}

    init(_ entries: some Sequence<Entry>) {
        heap = Array(entries)
        order()
    }

    struct Entry: Sendable {
        let deadline: Int64
        let id: SessionID
    }

    var count: Int { heap.count }

    /// The next entries from a place on, in no order.
    func entries(from place: Int, limit: Int) -> ArraySlice<Entry> { heap.dropFirst(place).prefix(limit) }

    mutating func insert(_ id: SessionID, deadline: Int64) {
        heap.append(Entry(deadline: deadline, id: id))
        var child = heap.count - 1
        while child > 0 {
            let parent = (child - 1) / 2
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            child = parent
        }
    }

    /// Takes out the entry on top if its deadline has been reached.
    mutating func popDue(now: Int64) -> Entry? {
        guard let first = heap.first, first.deadline <= now else { return nil }
        return popFirst()
    }

    /// Takes out the entry on top.
    mutating func popFirst() -> Entry? {
        guard let first = heap.first else { return nil }
        heap.swapAt(0, heap.count - 1)
        heap.removeLast()
        sink(0)
        return first
    }

    /// Drops the entries of sessions that are gone. It takes time in proportion to the entries, so call it when most of
    /// them are stale: then each entry is paid for by one that was added.
    mutating func compact(keeping isThere: (SessionID) -> Bool) {
        heap = heap.filter { isThere($0.id) }
        order()
    }

    private mutating func order() {
        for parent in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(parent) }
    }

    private mutating func sink(_ start: Int) {
        var parent = start
        while true {
            var child = 2 * parent + 1
            guard child < heap.count else { return }
            if child + 1 < heap.count, heap[child + 1].deadline < heap[child].deadline { child += 1 }
            guard heap[child].deadline < heap[parent].deadline else { return }
            heap.swapAt(child, parent)
            parent = child
        }
    }
}
