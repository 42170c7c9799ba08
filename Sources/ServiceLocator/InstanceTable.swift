/// The instances of a locator, made or being made.
struct InstanceTable {
    enum Slot {
        /// It lives, and its object is made when it is first asked for.
        case dormant
        case building(Construction)
        /// `order` counts the objects that this locator makes, from 1.
        case live(AnyInstance, order: Int)
    }
    struct Entry: LivingService {
        /// The index of the registration.
        let service: Int
        fileprivate(set) var slot: Slot
    }
    private var living: LivingServices<Entry>
    private var created = 0

    /// - Parameter living: the indices of what lives already, the oldest first.
    init(living: [Int]) {
        self.living = LivingServices(living.map { Entry(service: $0, slot: .dormant) })
    }

    subscript(index: Int) -> Slot? { living[index]?.slot }

    /// Adds a construction. There is none of the index, and no object.
    mutating func begin(_ construction: Construction) {
        if living.change(construction.index, { $0.slot = .building(construction) }) { return }
        living.add(Entry(service: construction.index, slot: .building(construction)))
    }

    /// Replaces a construction by its instance. A new one is the youngest: what its factory resolved was made before.
    ///
    /// - Returns: false when the construction was removed in the meantime.
    mutating func complete(_ construction: Construction, with instance: AnyInstance) -> Bool {
        guard isBuilding(construction) else { return false }
        created += 1
        let slot = Slot.live(instance, order: created)
        if construction.wakes {
            living.change(construction.index) { $0.slot = slot }
        } else {
            living.remove(construction.index)
            living.add(Entry(service: construction.index, slot: slot))
        }
        return true
    }

    /// Takes back a construction that failed.
    mutating func fail(_ construction: Construction) {
        guard isBuilding(construction) else { return }
        if construction.wakes {
            living.change(construction.index) { $0.slot = .dormant }
        } else {
            living.remove(construction.index)
        }
    }

    mutating func remove(_ index: Int) -> Slot? { living.remove(index)?.slot }

    /// Removes and returns all entries, newest first.
    mutating func removeAll() -> [Entry] { living.removeAll() }

    private func isBuilding(_ construction: Construction) -> Bool {
        guard case .building(let current) = living[construction.index]?.slot else { return false }
        return current === construction
    }
}
