import SeededRandomness
import ServiceLocator
import Synchronization
import Testing

/// What a locator should do, written as simply as it can be.
private struct Model {
    struct Instance: Equatable {
        var serial: Int
        var value = 0
    }
    let needs: [[Int]]
    var live: [Int: Instance] = [:]
    /// Oldest first.
    var order: [Int] = []
    var made = 0
    var disposed: [Int] = []
    /// Factories that throw for now.
    var broken: Set<Int> = []

    mutating func resolve(_ index: Int) -> Instance? {
        if let instance = live[index] { return instance }
        if broken.contains(index) { return nil }
        for need in needs[index] where resolve(need) == nil { return nil }
        made += 1
        live[index] = Instance(serial: made)
        order.append(index)
        return live[index]
    }

    mutating func remove(_ index: Int) -> Bool {
        guard let instance = live.removeValue(forKey: index) else { return false }
        order.removeAll { $0 == index }
        disposed.append(instance.serial)
        return true
    }

    mutating func removeAll() {
        for index in order.reversed() { _ = remove(index) }
    }
}

/// Knows its number and tells when it goes.
private final class Numbered: Service {
    let serial: Int
    let value = Mutex(0)
    private let gone: @Sendable (Int) -> Void

    init(serial: Int, gone: @escaping @Sendable (Int) -> Void) {
        self.serial = serial
        self.gone = gone
    }

    func clear() { value.withLock { $0 = 0 } }
    func dispose() { gone(serial) }
}

private final class World: Sendable {
    let made = Mutex(0)
    let disposed = Mutex<[Int]>([])
    let broken = Mutex<Set<Int>>([])
}

private func key(_ index: Int) -> ServiceKey<Numbered> { ServiceKey("service-\(index)") }

@Suite("Random operations")
struct PropertyTests {
    @Test("a locator does what a simple model does", arguments: 1...60 as ClosedRange<UInt64>)
    func model(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let count = Int.random(in: 1...12, using: &generator)
        let needs = (0..<count).map { index in
            (0..<index).filter { _ in Int.random(in: 0..<3, using: &generator) == 0 }
        }
        let world = World()
        let shared = try registry { builder in
            for index in 0..<count {
                builder.register(key(index), needs: needs[index].map { key($0).erased }) { resolver in
                    if world.broken.withLock({ $0.contains(index) }) { throw Refusal() }
                    for need in needs[index] { _ = try resolver.resolve(key(need)) }
                    let serial = world.made.withLock {
                        $0 += 1
                        return $0
                    }
                    return Numbered(serial: serial) { gone in world.disposed.withLock { $0.append(gone) } }
                }
            }
        }
        let locator = ServiceLocator(registry: shared)
        var model = Model(needs: needs)
        for step in 0..<300 {
            let index = Int.random(in: 0..<count, using: &generator)
            let place: Comment = "seed \(seed), step \(step), service \(index)"
            switch Int.random(in: 0..<20, using: &generator) {
            case 0..<8:
                let instance = try? locator.resolve(key(index))
                let expected = model.resolve(index)
                #expect(instance?.serial == expected?.serial, place)
                #expect(instance?.value.withLock { $0 } == expected?.value, place)
            case 8..<11:
                locator.existing(key(index))?.value.withLock { $0 += 1 }
                model.live[index]?.value += 1
            case 11..<13:
                try locator.clear(key(index))
                model.live[index]?.value = 0
            case 13..<17: #expect(locator.remove(key(index)) == model.remove(index), place)
            case 17:
                locator.removeAll()
                model.removeAll()
            default:
                model.broken.formSymmetricDifference([index])
                world.broken.withLock { $0 = model.broken }
            }
            #expect(world.disposed.withLock { $0 } == model.disposed, place)
            let live = locator.listing.enumerated().filter(\.element.isLive)
            let oldestFirst = live.sorted { ($0.element.creationOrder ?? 0) < ($1.element.creationOrder ?? 0) }
            #expect(oldestFirst.map(\.offset) == model.order, place)
        }
    }

    @Test(
        "under threads that make and remove at random, what was made lives or was disposed of once",
        arguments: 1...10 as ClosedRange<UInt64>)
    func balance(seed: UInt64) async throws {
        let count = 6
        let world = World()
        let journal = Journal()
        let shared = try registry { builder in
            for index in 0..<count {
                builder.register(key(index)) { resolver in
                    if index > 0 { _ = try resolver.resolve(key(index - 1)) }
                    giveWay()
                    let serial = world.made.withLock {
                        $0 += 1
                        return $0
                    }
                    return Numbered(serial: serial) { gone in world.disposed.withLock { $0.append(gone) } }
                }
            }
        }
        let locator = ServiceLocator(registry: shared, observers: [journal])
        await onThreads(6) { number in
            var generator = SeededGenerator(seed: seed &* 1000 &+ UInt64(number))
            for _ in 0..<100 {
                let index = Int.random(in: 0..<count, using: &generator)
                switch Int.random(in: 0..<10, using: &generator) {
                case 0: locator.removeAll()
                case 1..<4: locator.remove(key(index))
                case 4: #expect(throws: Never.self) { try locator.clear(key(index)) }
                default: #expect(throws: Never.self) { try locator.resolve(key(index)) }
                }
            }
        }
        let live = locator.listing.count(where: \.isLive)
        let made = world.made.withLock { $0 }
        let disposed = world.disposed.withLock { $0 }
        #expect(Set(disposed).count == disposed.count, "seed \(seed)")
        #expect(disposed.count + live == made, "seed \(seed)")
        #expect(journal.all.count { $0.hasPrefix("created") } == made, "seed \(seed)")
        #expect(journal.all.count { $0.hasPrefix("removed") } == disposed.count, "seed \(seed)")
    }
}
