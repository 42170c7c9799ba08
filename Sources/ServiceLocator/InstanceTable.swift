/// The instances of a locator, made or being made.
///
/// Sorted by index, so that a locator with three of 500 registered services needs memory for three.
struct InstanceTable {
    enum Slot {
        case building(Construction)
        /// `order` counts the instances that this locator makes, from 1.
        case live(AnyInstance, order: Int)
    }
    struct Entry {
        let index: Int
        fileprivate(set) var slot: Slot

        /// 0 while the instance is being made.
        var order: Int {
            if case .live(_, let order) = slot { order } else { 0 }
        }
    }
    private var entries: [Entry] = []
    private var created = 0

    subscript(index: Int) -> Slot? {
        let position = position(of: index)
        guard position < entries.count, entries[position].index == index else { return nil }
        return entries[position].slot
    }

    /// Adds a construction. The index must be free.
    mutating func begin(_ construction: Construction) {
        let entry = Entry(index: construction.index, slot: .building(construction))
        let position = position(of: construction.index)
        // `insert` costs several times as much, even at the end.
        if position == entries.count { entries.append(entry) } else { entries.insert(entry, at: position) }
    }

    /// Replaces a construction by its instance; `false` when the construction was removed in the meantime.
    mutating func complete(_ construction: Construction, with instance: AnyInstance) -> Bool {
        guard let position = position(of: construction) else { return false }
        created += 1
        entries[position].slot = .live(instance, order: created)
        return true
    }

    /// Removes a construction that failed.
    mutating func fail(_ construction: Construction) {
        guard let position = position(of: construction) else { return }
        entries.remove(at: position)
    }

    mutating func remove(_ index: Int) -> Slot? {
        let position = position(of: index)
        guard position < entries.count, entries[position].index == index else { return nil }
        return entries.remove(at: position).slot
    }

    /// Removes and returns all entries: instances newest first, then constructions.
    mutating func removeAll() -> [Entry] {
        var taken: [Entry] = []
        swap(&taken, &entries)
        if taken.count > 1 { taken.sort { $0.order > $1.order } }
        return taken
    }

    private func position(of construction: Construction) -> Int? {
        let position = position(of: construction.index)
        guard position < entries.count, case .building(let current) = entries[position].slot, current === construction
        else { return nil }
        return position
    }

    /// The position of an index, or where it would be inserted.
    private func position(of index: Int) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if entries[middle].index < index { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
