import Synchronization
import Testing

@testable import ServiceLocator

private func key(_ name: String) -> ServiceKey<Counter> { ServiceKey(name) }

@Suite("Many threads", .timeLimit(.minutes(1)))
struct ConcurrencyTests {
    /// What the threads got, in no order.
    private final class Results: Sendable {
        private let list = Mutex<[Result<Counter, ServiceLocatorError>]>([])

        func add(_ body: () throws(ServiceLocatorError) -> Counter) {
            let result: Result<Counter, ServiceLocatorError>
            do throws(ServiceLocatorError) { result = .success(try body()) } catch { result = .failure(error) }
            list.withLock { $0.append(result) }
        }

        var instances: [Counter] { list.withLock { $0.compactMap { try? $0.get() } } }
        var errors: [ServiceLocatorError] {
            list.withLock { $0.compactMap { if case .failure(let error) = $0 { error } else { nil } } }
        }
    }

    private func waitUntilWaiting(_ count: Int, in locator: ServiceLocator) {
        while locator.withWaits({ $0.count }) < count { giveWay() }
    }

    @Test("100 threads that ask first at once get one instance, made once", arguments: 1...20)
    func oneInstance(round: Int) async throws {
        let runs = Mutex(0)
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(key("a")) { _ in
                    runs.withLock { $0 += 1 }
                    for _ in 0..<10 { giveWay() }
                    return Counter()
                }
            })
        let results = Results()
        await onThreads(100) { _ in results.add { () throws(ServiceLocatorError) in try locator.resolve(key("a")) } }
        #expect(runs.withLock { $0 } == 1)
        #expect(results.instances.count == 100)
        #expect(Set(results.instances.map(ObjectIdentifier.init)).count == 1)
    }

    @Test("100 tasks as well, even though they are more than the threads that tasks have")
    func oneInstanceForTasks() async throws {
        let locator = ServiceLocator(registry: try registry { $0.register(key("a")) { _ in Counter() } })
        let instances = await withTaskGroup(of: ObjectIdentifier?.self) { group in
            for _ in 0..<100 { group.addTask { (try? locator.resolve(key("a"))).map(ObjectIdentifier.init) } }
            return await group.reduce(into: Set<ObjectIdentifier?>()) { $0.insert($1) }
        }
        #expect(instances.count == 1)
    }

    @Test("100 sessions that need a service of the process at once get one")
    func oneForTheProcess() async throws {
        let runs = Mutex(0)
        let shared = try registry { builder in
            builder.register(key("clock"), scope: .process) { _ in
                runs.withLock { $0 += 1 }
                giveWay()
                return Counter()
            }
            builder.register(key("a")) { try $0.resolve(key("clock")) }
        }
        let process = ServiceLocator(registry: shared)
        let results = Results()
        await onThreads(100) { _ in
            let session = ServiceLocator(registry: shared, parent: process)
            results.add { () throws(ServiceLocatorError) in try session.resolve(key("a")) }
        }
        #expect(runs.withLock { $0 } == 1)
        #expect(Set(results.instances.map(ObjectIdentifier.init)).count == 1)
    }

    @Test("while one service is being made, everything else goes on")
    func othersGoOn() async throws {
        let (started, gate) = (Latch(), Latch())
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(key("slow")) { _ in
                    started.open()
                    gate.wait()
                    return Counter()
                }
                builder.register(key("quick")) { _ in Counter() }
            })
        await onThreads(2) { number in
            guard number == 0 else {
                _ = try? locator.resolve(key("slow"))
                return
            }
            started.wait()
            #expect(throws: Never.self) { try locator.resolve(key("quick")) }
            #expect(locator.existing(key("slow")) == nil)
            #expect(throws: Never.self) { try locator.clear(key("slow")) }
            #expect(locator.listing.map(\.isLive) == [false, true])
            #expect(locator.remove(key("quick")))
            gate.open()
        }
        #expect(locator.existing(key("slow")) != nil)
    }

    @Test("those who wait for a factory that throws get its error; it ran once, and the next access tries again")
    func waitersGetTheError() async throws {
        let runs = Mutex(0)
        let gate = Latch()
        let locator = ServiceLocator(
            registry: try registry { builder in
                builder.register(key("a")) { _ in
                    guard
                        runs.withLock({
                            $0 += 1
                            return $0
                        }) == 1
                    else { return Counter() }
                    gate.wait()
                    throw Refusal()
                }
            })
        let results = Results()
        await onThreads(11) { number in
            guard number == 0 else {
                results.add { () throws(ServiceLocatorError) in try locator.resolve(key("a")) }
                return
            }
            waitUntilWaiting(9, in: locator)
            gate.open()
        }
        #expect(results.errors.count == 10)
        #expect(results.errors.allSatisfy { $0.underlying is Refusal })
        #expect(runs.withLock { $0 } == 1)
        #expect(throws: Never.self) { try locator.resolve(key("a")) }
        #expect(locator.withWaits { $0.count } == 0)
    }

    @Test(
        "what is removed while it is made goes to those who waited, is disposed of once and not kept",
        arguments: [true, false])
    func removedWhileMade(all: Bool) async throws {
        let journal = Journal()
        let runs = Mutex(0)
        let gate = Latch()
        let shared = try registry { builder in
            builder.register(key("a")) { _ in
                let run = runs.withLock {
                    $0 += 1
                    return $0
                }
                if run == 1 { gate.wait() }
                return Counter("\(run)", journal: journal)
            }
        }
        let locator = ServiceLocator(registry: shared, observers: [journal])
        let results = Results()
        await onThreads(4) { number in
            guard number == 0 else {
                results.add { () throws(ServiceLocatorError) in try locator.resolve(key("a")) }
                return
            }
            waitUntilWaiting(2, in: locator)
            if all { locator.removeAll() } else { #expect(locator.remove(key("a"))) }
            #expect(locator.existing(key("a")) == nil)
            #expect((try? locator.resolve(key("a")))?.name == "2")
            gate.open()
        }
        #expect(results.instances.map(\.name) == ["1", "1", "1"])
        #expect(results.instances[0].timesDisposed == 1)
        #expect(locator.existing(key("a"))?.name == "2")
        #expect(journal.all == ["created a", "created a", "disposed 1", "removed a"])
    }

    @Test("what is made anew meanwhile is kept, whichever of the two ends first")
    func abandonedEndsFirst() async throws {
        let runs = Mutex(0)
        let started = [Latch(), Latch()]
        let gates = [Latch(), Latch()]
        let firstIsBack = Latch()
        let shared = try registry { builder in
            builder.register(key("a")) { _ in
                let run = runs.withLock {
                    $0 += 1
                    return $0
                }
                started[run - 1].open()
                gates[run - 1].wait()
                return Counter("\(run)")
            }
        }
        let locator = ServiceLocator(registry: shared)
        await onThreads(3) { number in
            switch number {
            case 0:
                #expect((try? locator.resolve(key("a")))?.name == "1")
                firstIsBack.open()
            case 1:
                started[0].wait()
                locator.remove(key("a"))
                #expect((try? locator.resolve(key("a")))?.name == "2")
            default:
                started[1].wait()
                gates[0].open()
                firstIsBack.wait()
                #expect(locator.existing(key("a")) == nil)
                gates[1].open()
            }
        }
        #expect(locator.existing(key("a"))?.name == "2")
    }
}
