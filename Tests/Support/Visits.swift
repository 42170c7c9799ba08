import JSONDocument
import ServiceLocator
import Sessions
import Synchronization

/// Services in Swift with hooks, for tests.
package enum Visits {
    package static let services: SwiftServices = {
        var services = SwiftServices()
        services.add(Ledger.key) { _ in Ledger() }
        services.add(Visit.self)
        services.add(Basket.self)
        services.add(Orders.self)
        return services
    }()
}

/// One for the process: numbers visits, and writes down how they end.
package final class Ledger: Sendable {
    package static let key = ServiceKey("ledger", of: Ledger.self)

    private let state = Mutex<(count: Int, ended: [String], failing: Set<String>)>((0, [], []))

    package var count: Int { state.withLock(\.count) }
    package var ended: [String] { state.withLock(\.ended) }

    /// Names the hooks of visits that throw from now on.
    package func fail(_ hooks: String...) { state.withLock { $0.failing = Set(hooks) } }

    func next() -> Int {
        state.withLock { state in
            state.count += 1
            return state.count
        }
    }

    func note(_ end: String) { state.withLock { $0.ended.append(end) } }

    func isFailing(_ hook: String) -> Bool { state.withLock { $0.failing.contains(hook) } }

    func check(_ hook: String) throws {
        if isFailing(hook) { throw Refusal("ledger_closed", "The ledger is closed.") }
    }
}

package final class Visit: SessionService {
    package struct State: Codable, Sendable {
        package var number = 0
        package var note = ""
        package var log: [String] = []
    }

    package static let name = "visit"
    package static let initial = State()
    package static let commands: [Command<Visit>] = [
        Command("note", input: String.self, output: ["type": "string"]) { visit, text in
            visit.state.note += text
            return "\(visit.state.number) \(visit.state.note)"
        },
        Command("fail", input: String.self) { visit, hook in visit.ledger.fail(hook) },
        Command("ends", output: ["type": "array"]) { visit in visit.ledger.ended },
    ]
    package static let hooks = Hooks<Visit>(
        created: { visit in
            visit.state.number = visit.ledger.next()
            visit.state.note = "new "
            try visit.ledger.check("created")
        },
        signedOut: { visit in
            visit.state.log.append("signed out")
            try visit.ledger.check("signedOut")
            if visit.ledger.isFailing("tooLarge") { visit.state.note = String(repeating: "x", count: 100_000) }
        },
        ended: { visit in
            visit.ledger.note("visit \(visit.state.number) \(visit.state.note)")
            visit.state.note = "ended"
            try visit.ledger.check("ended")
        })

    package var state: State
    private let ledger: Ledger

    package init(state: State, services: borrowing ServiceResolver) throws {
        self.state = state
        ledger = try services.resolve(Ledger.key)
    }
}

/// Bound to the user. What it does when the user leaves, it does to the visit.
package final class Basket: SessionService {
    package struct State: Codable, Sendable {
        package var items: [String] = []
    }

    package static let name = "basket"
    package static let initial = State()
    package static let isUserBound = true
    package static let commands: [Command<Basket>] = [
        Command("add", input: String.self, output: ["type": "integer"]) { basket, item in
            basket.state.items.append(item)
            return basket.state.items.count
        },
        Command("look", output: ["type": "integer"]) { basket in basket.state.items.count },
    ]
    package static let hooks = Hooks<Basket>(
        created: { basket in basket.state.items = ["bag"] },
        signedOut: { basket in
            basket.visit.state.log.append("\(basket.user.state.id ?? "") left \(basket.state.items.count)")
        },
        ended: { basket in basket.ledger.note("basket \(basket.state.items.count)") })

    package var state: State
    private let visit: Visit
    private let user: UserService
    private let ledger: Ledger

    package init(state: State, services: borrowing ServiceResolver) throws {
        self.state = state
        visit = try services.resolve(Visit.self)
        user = try services.resolve(UserService.self)
        ledger = try services.resolve(Ledger.key)
    }
}
