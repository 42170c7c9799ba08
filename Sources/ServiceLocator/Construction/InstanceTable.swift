/// What a locator holds: the instances that live, and those being made.
///
/// Sorted by index, so that a locator with three of five hundred registered services pays for three. An empty one has
/// no memory of its own.
struct InstanceTable {
    enum Slot {
        case building(Construction)
        /// `order` rises with each instance that this locator makes, from 1.
        case live(AnyInstance, order: Int)
    }
    private struct Entry {
        let index: Int
        var slot: Slot
    }
    private var entries: [Entry] = []
    private var created = 0

    subscript(index: Int) -> Slot? {
        let position = position(of: index)
        guard position < entries.count, entries[position].index == index else { return nil }
        return entries[position].slot
    }

    /// There must be nothing at this index yet.
    mutating func begin(_ construction: Construction) {
        entries.insert(
            Entry(index: construction.index, slot: .building(construction)), at: position(of: construction.index))
    }

    /// Puts the instance where its construction stands; `false` when that has been taken out in the meantime.
    mutating func complete(_ construction: Construction, with instance: AnyInstance) -> Bool {
        guard let position = position(of: construction) else { return false }
        created += 1
        entries[position].slot = .live(instance, order: created)
        return true
    }

    /// Takes out a construction that failed.
    mutating func fail(_ construction: Construction) {
        guard let position = position(of: construction) else { return }
        entries.remove(at: position)
    }

    mutating func remove(_ index: Int) -> Slot? {
        let position = position(of: index)
        guard position < entries.count, entries[position].index == index else { return nil }
        return entries.remove(at: position).slot
    }

    /// Takes out everything, gives the live ones newest first.
    mutating func removeAll() -> [(index: Int, instance: AnyInstance)] {
        var live: [(index: Int, instance: AnyInstance, order: Int)] = []
        for entry in entries {
            if case .live(let instance, let order) = entry.slot { live.append((entry.index, instance, order)) }
        }
        entries = []
        live.sort { $0.order > $1.order }
        return live.map { ($0.index, $0.instance) }
    }

    private func position(of construction: Construction) -> Int? {
        let position = position(of: construction.index)
        guard position < entries.count, case .building(let current) = entries[position].slot, current === construction
        else { return nil }
        return position
    }

    /// Where the index stands, or would have to.
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
