import Foundation
import ServiceLocator
import Synchronization

/// A service with a state, which tells a journal what happens to it.
final class Counter: Service {
    let name: String
    private let journal: Journal?
    private let state = Mutex(0)
    private let disposals = Mutex(0)

    init(_ name: String = "counter", journal: Journal? = nil) {
        self.name = name
        self.journal = journal
    }

    var value: Int { state.withLock { $0 } }
    var timesDisposed: Int { disposals.withLock { $0 } }

    func increment() { state.withLock { $0 += 1 } }

    func clear() { state.withLock { $0 = 0 } }

    func dispose() {
        disposals.withLock { $0 += 1 }
        journal?.note("disposed \(name)")
    }
}

/// Collects what happened, in order.
final class Journal: ServiceObserver {
    private let lines = Mutex<[String]>([])

    var all: [String] { lines.withLock { $0 } }

    func note(_ line: String) { lines.withLock { $0.append(line) } }

    func created(_ key: AnyServiceKey) { note("created \(key)") }
    func cleared(_ key: AnyServiceKey) { note("cleared \(key)") }
    func removed(_ key: AnyServiceKey) { note("removed \(key)") }
}

struct Refusal: Error, Equatable {
    var reason = "not now"
}

/// A registry from a closure.
func registry(_ fill: (inout ServiceRegistryBuilder) -> Void) throws -> ServiceRegistry {
    var builder = ServiceRegistryBuilder()
    fill(&builder)
    return try builder.freeze()
}

/// The error that the body throws, for looking into it.
func failure(_ body: () throws -> some Any) -> ServiceLocatorError? {
    do {
        _ = try body()
        return nil
    } catch {
        return error as? ServiceLocatorError
    }
}

/// The chain of a cycle error, in one line.
func chain(_ error: ServiceLocatorError?) -> String? {
    guard case .cycle(let names) = error else { return nil }
    return names.joined(separator: " → ")
}

/// Runs the body on that many threads of its own at once, and waits for all without blocking the test's thread.
///
/// Real threads, since factories block: tasks on two cores would hardly ever meet.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
    await withTaskGroup(of: Void.self) { group in
        for number in 0..<count {
            group.addTask {
                await withCheckedContinuation { continuation in
                    let thread = Thread {
                        body(number)
                        continuation.resume()
                    }
                    thread.start()
                }
            }
        }
    }
}

/// Lets another thread run, to make it likely that threads meet. Nothing depends on it.
func giveWay() {
    sched_yield()
}
