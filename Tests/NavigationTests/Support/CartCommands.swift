import JSONDocument
import Navigation

/// The commands of the service `cart`. Prices are the numbers in the service `limits`.
enum CartCommands {
    static let all = [
        ServiceDirectory.Command(
            name: "add",
            input: [
                "type": "object", "additionalProperties": false, "required": ["id", "count"],
                "properties": ["id": ["type": "string"], "count": ["type": "integer"], "tags": ["type": "array"]],
            ],
            output: [
                "type": "object", "additionalProperties": false, "required": ["total"],
                "properties": ["total": ["type": "integer"]],
            ]),
        ServiceDirectory.Command(name: "empty", output: false),
        // Changes several services.
        ServiceDirectory.Command(name: "reset", output: true),
        ServiceDirectory.Command(name: "sync", waits: true),
    ]

    static func run(
        _ name: String, with input: JSONDocument?, reading document: (String) -> JSONDocument?
    ) throws(CommandRefusal) -> CommandResult {
        switch name {
        case "cart/add": return try add(input ?? .null, to: document("cart") ?? .null, document("limits") ?? .null)
        case "cart/empty": return CommandResult(changes: [ServiceChange(service: "cart", effect: .removed)])
        case "cart/reset":
            return CommandResult(
                changes: [
                    ServiceChange(service: "limits", effect: .written(["low": 3])),
                    ServiceChange(service: "quote", effect: .removed), ServiceChange(service: "cart", effect: .cleared),
                ])
        default: throw refusal("", "There is no \(name).")
        }
    }

    private static func add(
        _ item: JSONDocument, to cart: JSONDocument, _ prices: JSONDocument
    ) throws(CommandRefusal) -> CommandResult {
        guard let id = item[member: "id"]?.string, let price = prices[member: id]?.int else {
            throw refusal("/id", "There is no such thing.")
        }
        guard let count = item[member: "count"]?.int, count > 0 else { throw refusal("/count", "Take one at least.") }
        for (place, tag) in (item[member: "tags"]?.elements ?? []).enumerated() where tag.string == "" {
            throw refusal("/tags/\(place)", "is empty")
        }
        let total = (cart[member: "total"]?.int ?? 0) + price * count
        let had = cart[member: "items"]?[member: id]?.int ?? 0
        let items = JSONDocument(members: [(name: id, value: JSONDocument(had + count))])
        let state = cart.merging(["items": items, "total": JSONDocument(total)])
        return CommandResult(
            output: ["total": JSONDocument(total)],
            changes: [ServiceChange(service: "cart", effect: .written(state))])
    }

    private static func refusal(_ pointer: String, _ detail: String) -> CommandRefusal {
        CommandRefusal([JSONViolation(pointer: pointer, detail: detail)])
    }
}
