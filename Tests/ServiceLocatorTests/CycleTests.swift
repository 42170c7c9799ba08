import SeededRandomness
import Synchronization
import Testing

@testable import ServiceLocator

private func key(_ name: String) -> ServiceKey<Counter> { ServiceKey(name) }

@Suite("Cycles while services are made", .timeLimit(.minutes(1)))
struct CycleTests {
    /// Each service resolves the next of the names, the last one the first, without having declared it.
    private func ring(_ names: [String]) throws -> ServiceRegistry {
        try registry { builder in
            for (index, name) in names.enumerated() {
                let next = names[(index + 1) % names.count]
                builder.register(key(name)) { try $0.resolve(key(next)) }
            }
        }
    }

    @Test("needs that were not declared are found when they close a ring, spelled out")
    func undeclared() throws {
        let locator = ServiceLocator(registry: try ring(["a", "b", "c"]))
        let error = failure { try locator.resolve(key("a")) }
        #expect(error?.description == "Services need each other: a → b → c → a.")
        #expect(chain(failure { try locator.resolve(key("b")) }) == "b → c → a → b")
        #expect(locator.listing.allSatisfy { !$0.isLive })
    }

    @Test("a ring that is entered from outside is told without the way to it")
    func entered() throws {
        let shared = try registry { builder in
            builder.register(key("start")) { try $0.resolve(key("a")) }
            builder.register(key("a")) { try $0.resolve(key("b")) }
            builder.register(key("b")) { try $0.resolve(key("a")) }
        }
        #expect(chain(failure { try ServiceLocator(registry: shared).resolve(key("start")) }) == "a → b → a")
    }

    @Test("a factory may do without what would close a ring")
    func survived() throws {
        let shared = try registry { builder in
            builder.register(key("a")) { try $0.resolve(key("b")) }
            builder.register(key("b")) { resolver in
                if let other = try? resolver.resolve(key("a")) { return other }
                return Counter("alone")
            }
        }
        #expect(try ServiceLocator(registry: shared).resolve(key("a")).name == "alone")
    }

    @Test("a factory that goes around its resolver is found as well")
    func around() throws {
        let holder = Mutex<ServiceLocator?>(nil)
        let shared = try registry { builder in
            builder.register(key("a"), scope: .process) { _ in
                guard let locator = holder.withLock({ $0 }) else { throw Refusal() }
                return try locator.resolve(key("a"))
            }
        }
        let process = ServiceLocator(registry: shared)
        holder.withLock { $0 = ServiceLocator(registry: shared, parent: process) }
        #expect(chain(failure { try process.resolve(key("a")) }) == "a → a")
        holder.withLock { $0 = nil }
    }

    @Test("threads that each hold what the next one needs get an error and do not hang", arguments: 2...8)
    func acrossThreads(count: Int) async throws {
        let names = (0..<count).map { "s\($0)" }
        let latches = names.map { _ in Latch() }
        let shared = try registry { builder in
            for (index, name) in names.enumerated() {
                let next = names[(index + 1) % count]
                builder.register(key(name)) { resolver in
                    latches[index].open()
                    for latch in latches { latch.wait() }
                    return try resolver.resolve(key(next))
                }
            }
        }
        let locator = ServiceLocator(registry: shared)
        let chains = Mutex<[String]>([])
        await onThreads(count) { number in
            let text = chain(failure { try locator.resolve(key(names[number])) }) ?? "none"
            chains.withLock { $0.append(text) }
        }
        // One thread closed the ring; the others got its error from the one that they waited for.
        let told = chains.withLock { $0 }
        #expect(Set(told).count == 1)
        let turns = (0..<count).map { start in
            (0...count).map { names[(start + $0) % count] }.joined(separator: " → ")
        }
        #expect(turns.contains(told[0]), "\(told)")
        #expect(locator.withWaits { $0.count } == 0)
        #expect(locator.listing.allSatisfy { !$0.isLive })
    }

    @Test("the chain goes through what each thread had under way")
    func acrossThreadsInTheMiddle() async throws {
        let latches = (Latch(), Latch())
        // a → b → c → d → a, where one thread starts at a and another at c.
        let shared = try registry { builder in
            builder.register(key("a")) { try $0.resolve(key("b")) }
            builder.register(key("b")) { resolver in
                latches.0.open()
                latches.1.wait()
                return try resolver.resolve(key("c"))
            }
            builder.register(key("c")) { try $0.resolve(key("d")) }
            builder.register(key("d")) { resolver in
                latches.1.open()
                latches.0.wait()
                return try resolver.resolve(key("a"))
            }
        }
        let locator = ServiceLocator(registry: shared)
        let chains = Mutex<Set<String>>([])
        await onThreads(2) { number in
            let text = chain(failure { try locator.resolve(key(number == 0 ? "a" : "c")) }) ?? "none"
            chains.withLock { _ = $0.insert(text) }
        }
        let told = chains.withLock { $0 }
        #expect(told.isSubset(of: ["a → b → c → d → a", "c → d → a → b → c"]))
        #expect(told.count == 1)
    }

    @Test("threads that hold each other up in two locators, one of them around its resolver, do not hang")
    func acrossLocators() async throws {
        let latches = (Latch(), Latch())
        let holder = Mutex<ServiceLocator?>(nil)
        let shared = try registry { builder in
            builder.register(key("a")) { resolver in
                latches.0.open()
                latches.1.wait()
                return try resolver.resolve(key("p"))
            }
            builder.register(key("p"), scope: .process) { _ in
                latches.1.open()
                latches.0.wait()
                guard let session = holder.withLock({ $0 }) else { throw Refusal() }
                return try session.resolve(key("a"))
            }
        }
        let process = ServiceLocator(registry: shared)
        let session = ServiceLocator(registry: shared, parent: process)
        holder.withLock { $0 = session }
        let chains = Mutex<Set<String>>([])
        await onThreads(2) { number in
            let text = chain(failure { try number == 0 ? session.resolve(key("a")) : process.resolve(key("p")) })
            chains.withLock { _ = $0.insert(text ?? "none") }
        }
        holder.withLock { $0 = nil }
        let told = chains.withLock { $0 }
        #expect(told == ["a → p → a"] || told == ["p → a → p"])
    }

    @Test(
        "random needs on many threads: rings are told truly, and nothing else fails",
        arguments: 1...40 as ClosedRange<UInt64>)
    func random(seed: UInt64) async throws {
        var generator = SeededGenerator(seed: seed)
        let count = 7
        let hasRings = seed % 2 == 0
        let needs = (0..<count).map { index in
            (0..<count).filter { (hasRings || $0 > index) && Int.random(in: 0..<4, using: &generator) == 0 }
        }
        let starts = (0..<6).map { _ in (0..<count).shuffled(using: &generator) }
        // Half of the services are the process's, so that waits cross locators. Those only need each other.
        let scopes = (0..<count).map { $0 >= count / 2 ? ServiceScope.process : .session }
        let shared = try registry { builder in
            for index in 0..<count {
                let wanted = needs[index].filter { scopes[index] == .session || scopes[$0] == .process }
                builder.register(key("\(index)"), scope: scopes[index]) { resolver in
                    for need in wanted {
                        giveWay()
                        _ = try resolver.resolve(key("\(need)"))
                    }
                    return Counter()
                }
            }
        }
        for _ in 0..<25 {
            let process = ServiceLocator(registry: shared)
            let sessions = (0..<2).map { _ in ServiceLocator(registry: shared, parent: process) }
            let errors = Mutex<[ServiceLocatorError]>([])
            await onThreads(starts.count) { number in
                for index in starts[number] {
                    let locator = sessions[number % 2]
                    if let error = failure({ try locator.resolve(key("\(index)")) }) {
                        errors.withLock { $0.append(error) }
                    }
                }
            }
            for error in errors.withLock({ $0 }) {
                guard case .cycle(let names) = error else {
                    Issue.record("\(error), seed \(seed)")
                    continue
                }
                let steps = names.compactMap { Int($0) }
                #expect(steps.count > 1 && steps.first == steps.last, "\(names), seed \(seed)")
                for (from, to) in zip(steps, steps.dropFirst()) {
                    #expect(needs[from].contains(to), "\(names) has \(from) → \(to), seed \(seed)")
                }
            }
            if !hasRings { #expect(errors.withLock { $0.count } == 0, "seed \(seed)") }
            #expect(process.withWaits { $0.count } == 0, "seed \(seed)")
        }
    }
}
