import Glibc
import JSONDocument
import ServiceLocator
import Sessions
import Synchronization

/// Services in Swift for tests: a cart whose total no client can forge.
package enum Shop {
    package static let services: SwiftServices = {
        var services = SwiftServices()
        services.add(PriceList.key) { _ in PriceList() }
        services.add(Bank.key) { _ in Bank() }
        services.add(Cart.self)
        services.add(Cart.self, named: "gift-cart")
        services.add(Orders.self)
        return services
    }()
}

/// One for the process.
package final class PriceList: Sendable {
    package static let key = ServiceKey("prices", of: PriceList.self)

    func price(of item: String) -> Int? { ["tea": 3, "cup": 5][item] }
}

/// Takes its time, like any bank.
package final class Bank: Sendable {
    package static let key = ServiceKey("bank", of: Bank.self)

    private let gate = Mutex<(@Sendable () async -> Void)?>(nil)

    /// What happens before a payment is made.
    package func before(_ gate: (@Sendable () async -> Void)?) { self.gate.withLock { $0 = gate } }

    func charge(_ amount: Int) async -> String {
        await gate.withLock { $0 }?()
        return "paid \(amount)"
    }
}

package final class Cart: SessionService {
    package struct State: Codable, Sendable {
        package var items: [String: Int] = [:]
        package var total = 0
        package var note: String?
        package var receipt: String?
    }

    package struct Item: Codable, Sendable {
        package var id: String
        package var count: Int
    }

    package static let name = "cart"
    package static let initial = State()
    package static let schema: JSONDocument? = [
        "type": "object", "additionalProperties": false, "required": ["items", "total"],
        "properties": [
            "items": ["type": "object", "additionalProperties": ["type": "integer", "minimum": 1]],
            "total": ["type": "integer", "maximum": 1_000], "note": ["type": "string"], "receipt": ["type": "string"],
        ],
    ]
    package static let isReadOnly = true

    package static let commands: [Command<Cart>] = [
        Command(
            "add", input: Item.self,
            schema: [
                "type": "object", "required": ["id", "count"], "additionalProperties": false,
                "properties": ["id": ["type": "string"], "count": ["type": "integer", "minimum": 1]],
            ], output: ["type": "integer"]
        ) { cart, item in try cart.add(item) },
        Command("empty") { cart in cart.state = initial },
        Command("total", output: ["type": "integer"]) { cart in cart.state.total },
        Command("note", input: String.self) { cart, text in cart.state.note = text },
        Command("order", output: ["type": "integer"]) { cart in try cart.order() },
        Command("think") { _ in
            let end = processorTime() + 0.12
            while processorTime() < end {}
        },
        Command("fail") { _ in throw Broken() },
        Command(
            "pay", output: ["type": "string"],
            waiting: { context in
                let total = try await context.update { cart, _ in
                    guard cart.state.total > 0 else { throw Refusal("empty_cart", "There is nothing to pay.") }
                    return cart.state.total
                }
                let receipt = await (try context.resolve(Bank.key)).charge(total)
                return try await context.update { cart, _ in
                    cart.state.receipt = receipt
                    return receipt
                }
            }),
        Command("wait", input: String.self, waiting: { _, _ in }),
    ]

    package static var commandNames: [String] {
        ["add", "empty", "total", "note", "order", "think", "fail", "pay", "wait"]
    }

    package var state: State
    private let prices: PriceList
    private let orders: Orders

    package init(state: State, services: borrowing ServiceResolver) throws {
        self.state = state
        prices = try services.resolve(PriceList.key)
        orders = try services.resolve(Orders.self)
    }

    private func add(_ item: Item) throws -> Int {
        guard let price = prices.price(of: item.id) else {
            throw Refusal("unknown_item", at: "/id", "There is no \(item.id).")
        }
        state.items[item.id, default: 0] += item.count
        state.total += price * item.count
        return state.total
    }

    private func order() throws -> Int {
        orders.state.count += 1
        orders.state.turnover += state.total
        guard state.total > 0 else { throw Refusal("empty_cart", "There is nothing to order.") }
        state = Self.initial
        return orders.state.count
    }
}

private struct Broken: Error {}

/// Of this thread, in seconds.
private func processorTime() -> Double {
    var time = timespec()
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}

/// Without a schema, written by clients, too.
package final class Orders: SessionService {
    package struct State: Codable, Sendable {
        package var count = 0
        package var turnover = 0
        package var names: [String] = []
    }

    package static let name = "orders"
    package static let initial = State()
    package static let isUserBound = true
    package var state: State

    package init(state: State, services: borrowing ServiceResolver) { self.state = state }
}
