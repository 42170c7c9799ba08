import ServiceLocator
import Testing

private let clock = ServiceKey("clock", of: Counter.self)
private let profile = ServiceKey("profile", of: Counter.self)

@Suite("Scopes")
struct ScopeTests {
    private func shared() throws -> ServiceRegistry {
        try registry { builder in
            builder.register(clock, scope: .process) { _ in Counter() }
            builder.register(profile, needs: [clock.erased]) { resolver in
                try resolver.resolve(clock).increment()
                return Counter()
            }
        }
    }

    @Test("a service of the process is one for all sessions and lives in the topmost locator")
    func oneForAll() throws {
        let shared = try shared()
        let process = ServiceLocator(registry: shared)
        let between = ServiceLocator(registry: shared, parent: process)
        let sessions = (0..<3).map { _ in ServiceLocator(registry: shared, parent: between) }
        for session in sessions { _ = try session.resolve(profile) }
        #expect(process.existing(clock)?.value == 3)
        #expect(process.existing(profile) == nil)
        for session in sessions {
            #expect(session.existing(clock) === process.existing(clock))
            session.removeAll()
        }
        #expect(process.existing(clock)?.timesDisposed == 0)
    }

    @Test("a locator that owns some services leaves the others to its parent, and disposes of its own newest first")
    func owning() throws {
        let (first, second) = (ServiceKey("first", of: Counter.self), ServiceKey("second", of: Counter.self))
        let journal = Journal()
        let shared = try registry { builder in
            builder.register(clock, scope: .process) { _ in Counter() }
            builder.register(profile) { _ in Counter() }
            for key in [first, second] {
                builder.register(key) { resolver in
                    _ = try resolver.resolve(profile)
                    return Counter()
                }
            }
        }
        let process = ServiceLocator(registry: shared)
        let session = ServiceLocator(registry: shared, parent: process)
        let outer = ServiceLocator(
            registry: shared, parent: session, owning: ["first", "second"], observers: [journal])
        let inner = ServiceLocator(registry: shared, parent: outer, owning: ["second"])
        #expect(try inner.resolve(profile) === session.resolve(profile))
        #expect(try inner.resolve(clock) === process.resolve(clock))
        #expect(try inner.resolve(first) === outer.resolve(first))
        #expect(try inner.resolve(second) !== outer.resolve(second))
        #expect(try outer.resolve(second) !== session.resolve(second))
        #expect(session.existing(first) == nil, "a child's service is nothing of its parent's")
        #expect(!inner.remove(first), "it is the parent's")
        outer.removeAll()
        #expect(journal.all.suffix(2) == ["removed second", "removed first"])
        #expect(session.existing(second) != nil)
    }

    @Test("a session neither clears nor removes what belongs to the process")
    func notFromBelow() throws {
        let shared = try shared()
        let process = ServiceLocator(registry: shared)
        let session = ServiceLocator(registry: shared, parent: process)
        let one = try session.resolve(clock)
        guard case .ownedByParent = failure({ try session.clear(clock) }) else {
            Issue.record("cleared from below")
            return
        }
        #expect(!session.remove(clock))
        #expect(process.existing(clock) === one)
        try process.clear(clock)
        #expect(process.remove(clock))
    }

    @Test("a service of the process that asks for one of a session at run time is refused")
    func refusedAtRunTime() throws {
        let shared = try registry { builder in
            builder.register(profile) { _ in Counter() }
            builder.register(clock, scope: .process) { try $0.resolve(profile) }
        }
        let process = ServiceLocator(registry: shared)
        for locator in [process, ServiceLocator(registry: shared, parent: process)] {
            let error = failure { try locator.resolve(clock) }
            guard case .processNeedsSession = error else {
                Issue.record("not refused")
                return
            }
            #expect(
                error?.description
                    == "Service 'clock' of the process asked for 'profile', of which each session has its own.")
        }
        #expect(process.existing(profile) == nil)
    }

    @Test("a locator with a registry of its own still finds the services of the process above")
    func otherRegistryAbove() throws {
        let process = ServiceLocator(registry: try shared())
        let own = try registry { builder in
            builder.register(profile) { resolver in Counter("\(try resolver.resolve(clock).value)") }
        }
        let session = ServiceLocator(registry: own, parent: process)
        #expect(try session.resolve(profile).name == "0")
        #expect(try session.resolve(clock) === process.resolve(clock))
    }
}
