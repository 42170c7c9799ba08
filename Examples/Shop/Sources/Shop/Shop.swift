import Concierge

/// What things cost, in cents: one for the process.
struct PriceList: Sendable {
    static let key = ServiceKey("prices", of: PriceList.self)
    private let cents = ["apple": 40, "bread": 320, "coffee": 890]

    func price(of item: String) -> Int? { cents[item] }
}

/// One for each session. Clients read it, and change it by its commands alone: no client can forge the total.
final class Cart: SessionService {
    struct State: Codable, Sendable {
        var items: [String: Int] = [:]
        var total = 0
    }

    static let name = "cart"
    static let initial = State()
    static let isReadOnly = true
    static let commands: [Command<Cart>] = [
        Command("add", input: Item.self, schema: Item.schema, output: ["type": "integer"]) { try $0.add($1) }
    ]

    struct Item: Codable, Sendable {
        var id: String
        var count: Int

        static let schema: JSONDocument = [
            "type": "object", "required": ["id", "count"], "additionalProperties": false,
            "properties": ["id": ["type": "string"], "count": ["type": "integer", "minimum": 1, "maximum": 100]],
        ]
    }

    var state: State
    private let prices: PriceList

    init(state: State, services: borrowing ServiceResolver) throws {
        self.state = state
        prices = try services.resolve(PriceList.key)
    }

    /// - Returns: the new total.
    func add(_ item: Item) throws -> Int {
        guard let price = prices.price(of: item.id) else {
            throw Refusal("unknown_item", at: "/id", "There is no \(item.id).")
        }
        state.items[item.id, default: 0] += item.count
        state.total += price * item.count
        return state.total
    }
}

@main struct Shop {
    static func main() {
        var concierge = Concierge()
        concierge.add(PriceList.key) { _ in PriceList() }
        concierge.add(Cart.self)
        concierge.run()
    }
}
