/// The instances of a locator, made or being made.
struct InstanceTable {
    enum Slot {
        case building(Construction)
        /// `order` counts the instances that this locator makes, from 1.
        case live(AnyInstance, order: Int)
    }
    struct Entry: LivingService {
        /// The index of the registration.
        let service: Int
        fileprivate(set) var slot: Slot
    }
    private var living = LivingServices<Entry>()
    private var created = 0

    subscript(index: Int) -> Slot? { living[index]?.slot }

    /// Adds a construction. The index must be free.
    mutating func begin(_ construction: Construction) {
        living.add(Entry(service: construction.index, slot: .building(construction)))
    }

    /// Replaces a construction by its instance, which is the youngest: what its factory resolved was made before.
    ///
    /// - Returns: false when the construction was removed in the meantime.
    mutating func complete(_ construction: Construction, with instance: AnyInstance) -> Bool {
        guard isBuilding(construction) else { return false }
        living.remove(construction.index)
        created += 1
        living.add(Entry(service: construction.index, slot: .live(instance, order: created)))
        return true
    }

    /// Removes a construction that failed.
    mutating func fail(_ construction: Construction) {
        if isBuilding(construction) { living.remove(construction.index) }
    }

    mutating func remove(_ index: Int) -> Slot? { living.remove(index)?.slot }

    /// Removes and returns all entries, newest first.
    mutating func removeAll() -> [Entry] { living.removeAll() }

    private func isBuilding(_ construction: Construction) -> Bool {
        guard case .building(let current) = living[construction.index]?.slot else { return false }
        return current === construction
    }
}
