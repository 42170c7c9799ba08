import JSONDocument
import Navigation

/// The services of a session, as a dictionary.
struct TestServices: ServiceDocuments {
    struct Service {
        let schema: JSONDocument
        let start: JSONDocument
        var isReadOnly = false
        var isHidden = false
        /// Whether a flow that alone writes it should own it.
        var isOwnable = false
        var commands: [ServiceDirectory.Command] = []
    }

    static let known: [String: Service] = [
        "profile": Service(
            schema: [
                "type": "object", "additionalProperties": false, "required": ["name", "email", "attributes"],
                "properties": [
                    "name": ["type": "string", "maxLength": 200], "email": ["type": ["string", "null"]],
                    "attributes": ["type": "object"],
                ],
            ],
            start: ["name": "", "email": nil, "attributes": .emptyObject]),
        "quote": Service(
            schema: [
                "type": "object", "additionalProperties": false, "required": ["text", "author"],
                "properties": ["text": ["type": "string"], "author": ["type": "string"]],
            ],
            start: ["text": "To be.", "author": "Nobody"]),
        "log": Service(
            schema: ["type": "object", "properties": ["lines": ["type": "array", "items": ["type": "string"]]]],
            start: ["lines": []]),
        "limits": Service(schema: ["type": "object"], start: ["low": 1, "high": 10, "name": "x"]),
        "memo": Service(schema: ["type": "object"], start: .emptyObject, isOwnable: true),
        "cart": Service(
            schema: [
                "type": "object", "additionalProperties": false, "required": ["items", "total"],
                "properties": [
                    "items": ["type": "object", "additionalProperties": ["type": "integer"]],
                    "total": ["type": "integer", "maximum": 100],
                ],
            ],
            start: ["items": .emptyObject, "total": 0], isOwnable: true, commands: CartCommands.all),
        "basket": Service(
            schema: [
                "type": "object", "additionalProperties": false, "required": ["items"],
                "properties": [
                    "items": [
                        "type": "array",
                        "items": [
                            "type": "object", "additionalProperties": false, "required": ["name", "price", "count"],
                            "properties": [
                                "name": ["type": "string"], "price": ["type": "number"], "count": ["type": "integer"],
                                "kind": ["enum": ["meal", "drink"]], "due": ["type": "string", "format": "date"],
                                "options": ["type": "array", "items": ["type": "object"]],
                            ],
                        ],
                    ],
                    "total": ["type": "number"], "names": ["type": "array", "items": ["type": "string"]],
                ],
            ],
            start: ["items": []]),
        "vault": Service(schema: ["type": "object"], start: ["limit": 5], isHidden: true),
        "user": Service(
            schema: ["type": "object"], start: ["id": nil, "authenticated": false, "claims": .emptyObject],
            isReadOnly: true),
    ]

    static let directory = ServiceDirectory(
        known.map {
            ServiceDirectory.Entry(
                name: $0.key, schema: $0.value.schema, isReadOnly: $0.value.isReadOnly,
                isHidden: $0.value.isHidden, isOwnable: $0.value.isOwnable, commands: $0.value.commands)
        })

    private(set) var written: [String: JSONDocument] = [:]

    subscript(service: String) -> JSONDocument {
        get { document(of: service) ?? .null }
        set { written[service] = newValue }
    }

    /// The lines that actions have written to the service `log`.
    var log: [String] { (self["log"][member: "lines"]?.elements ?? []).compactMap(\.string) }

    func document(of service: String) -> JSONDocument? { written[service] ?? defaultDocument(of: service) }

    /// Another one with each document.
    func revision(of service: String) -> UInt64 {
        written[service].map { $0.description.utf8.reduce(1) { $0 &* 31 &+ UInt64($1) } } ?? 0
    }

    func defaultDocument(of service: String) -> JSONDocument? { Self.known[service]?.start }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] {
        guard let schema = Self.known[service]?.schema, let compiled = try? JSONSchema(schema) else { return [] }
        return compiled.violations(in: document)
    }

    func call(
        _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        try CartCommands.run("\(service)/\(command)", with: input, reading: document)
    }

    mutating func perform(_ changes: [ServiceChange]) {
        for change in changes {
            switch change.effect {
            case .written(let document): written[change.service] = document
            case .cleared, .removed: written[change.service] = nil
            }
        }
    }
}

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
