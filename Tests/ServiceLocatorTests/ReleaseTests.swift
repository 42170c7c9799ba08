import ServiceLocator
import Synchronization
import Testing

private func key(_ name: String) -> ServiceKey<Counter> { ServiceKey(name) }

/// Refuses to be cleared.
private final class Stubborn: Service {
    func clear() throws { throw Refusal() }
}

@Suite("Clearing and removing")
struct ReleaseTests {
    private let journal = Journal()

    /// `a` needs `b`, which needs `c`; the journal hears of all.
    private func locator() throws -> ServiceLocator {
        let journal = journal
        let shared = try registry { builder in
            builder.register(key("a"), needs: [key("b").erased]) { resolver in
                _ = try resolver.resolve(key("b"))
                return Counter("a", journal: journal)
            }
            builder.register(key("b"), needs: [key("c").erased]) { resolver in
                _ = try resolver.resolve(key("c"))
                return Counter("b", journal: journal)
            }
            builder.register(key("c")) { _ in Counter("c", journal: journal) }
        }
        return ServiceLocator(registry: shared, observers: [journal])
    }

    @Test("clear keeps the instance and gives it its default state")
    func clear() throws {
        let locator = try locator()
        let before = try locator.resolve(key("c"))
        before.increment()
        try locator.clear(key("c"))
        #expect(try locator.resolve(key("c")) === before)
        #expect(before.value == 0)
        #expect(journal.all == ["created c", "cleared c"])
    }

    @Test("clear and remove do nothing when none lives")
    func nothingThere() throws {
        let locator = try locator()
        try locator.clear(key("a"))
        #expect(!locator.remove(key("a")))
        locator.removeAll()
        #expect(journal.all.isEmpty)
    }

    @Test("remove disposes, and the next access is a clean one")
    func remove() throws {
        let locator = try locator()
        let before = try locator.resolve(key("c"))
        before.increment()
        #expect(locator.remove(key("c").erased))
        #expect(before.timesDisposed == 1)
        #expect(before.value == 1)
        let after = try locator.resolve(key("c"))
        #expect(after !== before)
        #expect(after.value == 0)
        #expect(journal.all == ["created c", "disposed c", "removed c", "created c"])
    }

    @Test("removeAll goes newest first")
    func removeAll() throws {
        let locator = try locator()
        _ = try locator.resolve(key("a"))
        locator.removeAll()
        #expect(journal.all == ["created c", "created b", "created a"] + gone)
        #expect(locator.listing.allSatisfy { !$0.isLive })
        locator.removeAll()
        #expect(journal.all.count == 9)
    }

    @Test("a locator that goes disposes newest first as well")
    func deinitialization() throws {
        do {
            let locator = try locator()
            _ = try locator.resolve(key("a"))
        }
        #expect(Array(journal.all.dropFirst(3)) == gone)
    }

    private let gone = ["disposed a", "removed a", "disposed b", "removed b", "disposed c", "removed c"]

    @Test("what was removed and made again counts as new")
    func newestAgain() throws {
        let locator = try locator()
        _ = try locator.resolve(key("a"))
        locator.remove(key("c"))
        _ = try locator.resolve(key("c"))
        #expect(locator.listing.map(\.creationOrder) == [3, 2, 4])
        locator.removeAll()
        #expect(journal.all.filter { $0.hasPrefix("removed") } == ["removed c", "removed c", "removed a", "removed b"])
    }

    @Test("what cannot be cleared says so")
    func notClearable() throws {
        let number = ServiceKey("number", of: Int.self)
        let stubborn = ServiceKey("stubborn", of: Stubborn.self)
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(number) { _ in 1 }
                builder.register(stubborn) { _ in Stubborn() }
            }, observers: [journal])
        _ = try (locator.resolve(number), locator.resolve(stubborn))
        #expect(failure { try locator.clear(number) }?.description == "Service 'number' cannot be cleared.")
        let error = failure { try locator.clear(stubborn) }
        #expect(error?.description == "Service 'stubborn' could not be cleared.")
        #expect(error?.underlying is Refusal)
        #expect(journal.all == ["created number", "created stubborn"])
    }

    @Test("an instance behind a protocol is cleared and disposed of when it is a Service")
    func behindProtocol() throws {
        let hidden = ServiceKey("hidden", of: (any AnyObject & Sendable).self)
        let locator = ServiceLocator(registry: try registry { $0.register(hidden) { _ in Counter() } })
        let counter = try #require(try locator.resolve(hidden) as? Counter)
        counter.increment()
        try locator.clear(hidden)
        #expect(counter.value == 0)
        locator.remove(hidden)
        #expect(counter.timesDisposed == 1)
    }

    @Test("dispose and observers may use the locator")
    func reentrant() throws {
        let seen = Mutex<[Bool]>([])
        final class Curious: ServiceObserver {
            let look: @Sendable () -> Void
            init(look: @escaping @Sendable () -> Void) { self.look = look }
            func created(_ key: AnyServiceKey) { look() }
            func cleared(_ key: AnyServiceKey) { look() }
            func removed(_ key: AnyServiceKey) { look() }
        }
        final class Holder: Sendable { let locator = Mutex<ServiceLocator?>(nil) }
        let holder = Holder()
        let curious = Curious {
            guard let locator = holder.locator.withLock({ $0 }) else { return }
            seen.withLock { $0.append(locator.existing(key("a")) != nil) }
        }
        let shared = try registry { $0.register(key("a")) { _ in Counter() } }
        let locator = ServiceLocator(registry: shared, observers: [curious])
        holder.locator.withLock { $0 = locator }
        _ = try locator.resolve(key("a"))
        try locator.clear(key("a"))
        locator.remove(key("a"))
        holder.locator.withLock { $0 = nil }
        #expect(seen.withLock { $0 } == [false, true, false])
    }
}
