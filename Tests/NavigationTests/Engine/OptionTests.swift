import JSONDocument
import Navigation
import Testing

@Suite("Choices from data")
struct OptionTests {
    private static func flow(_ schema: JSONDocument, title: String = "/item/name") -> JSONDocument {
        let options: JSONDocument = [
            "of": "/limits/pizzas", "value": "/item/id", "title": JSONDocument(title),
        ]
        // The place of the options is marked by a null.
        func filled(_ schema: JSONDocument) -> JSONDocument {
            guard let members = schema.members else { return schema }
            return JSONDocument(
                members: members.map { ($0.name, $0.name == "x-options" ? options : filled($0.value)) })
        }
        return Flows.make(["a": ["accepts": ["order": filled(schema)], "on": ["order": ["target": "a"]]]])
    }

    private static let plain: JSONDocument = [
        "type": "object", "required": ["pizza"], "x-order": ["pizza", "count"],
        "properties": ["count": ["type": "integer"], "pizza": ["type": "string", "x-options": nil]],
    ]

    private static let menu: JSONDocument = [["id": "m", "name": "Margherita"], ["id": "f", "name": "Funghi"]]

    private func traveller(_ flow: JSONDocument, _ pizzas: JSONDocument?) throws -> Traveller {
        var traveller = try Traveller(flow)
        traveller.services["limits"] = pizzas.map { ["pizzas": $0] } ?? .emptyObject
        return traveller
    }

    private func schema(_ traveller: Traveller) throws -> JSONDocument? {
        try traveller.engine.eventSchemas(
            of: traveller.journey, services: traveller.services, now: traveller.now)["order"]?.schema
    }

    private func violations(_ traveller: Traveller, _ data: JSONDocument) -> [String]? {
        guard case .eventDataInvalid(let violations)? = traveller.refusal(of: "order", data) else { return nil }
        return violations.map(\.description)
    }

    @Test("the schema of an event has the choices in place of where they come from, and the author's order")
    func shown() throws {
        let traveller = try traveller(Self.flow(Self.plain), Self.menu)
        let schema = try schema(traveller)
        #expect(schema?[member: "properties"]?[member: "pizza"]?[member: "enum"] == ["m", "f"])
        #expect(
            schema?[member: "properties"]?[member: "pizza"]?[member: "x-options"] == [
                ["value": "m", "title": "Margherita"], ["value": "f", "title": "Funghi"],
            ])
        #expect(schema?[member: "x-order"] == ["pizza", "count"])
    }

    @Test("the entity tag changes with a service that a named guard of the choices looks at")
    func tags() throws {
        let options: JSONDocument = [
            "of": ["$filter": ["of": "/limits/pizzas", "where": "open"]], "value": "/item/id",
        ]
        let schema: JSONDocument = ["type": "object", "properties": ["pizza": ["x-options": options]]]
        let flow = Flows.make(
            ["a": ["accepts": ["order": schema], "on": ["order": ["target": "a"]]]],
            adding: ["guards": ["open": ["not": ["is": "/memo/closed"]]]])
        var traveller = try traveller(flow, Self.menu)
        func tag() throws -> UInt64 {
            try traveller.engine.textAndMemory(
                traveller.journey, services: traveller.services, now: traveller.now, knowing: GuardMemory(),
                timesMovedBy: 0
            ).text.tag
        }
        let before = try tag()
        traveller.services["memo"] = ["closed": true]
        #expect(try tag() != before)
    }

    @Test("what is sent is one of the choices")
    func checked() throws {
        var traveller = try traveller(Self.flow(Self.plain), Self.menu)
        try traveller.send("order", ["pizza": "f"])
        #expect(
            violations(traveller, ["pizza": "q"]) == ["/pizza must be one of the values in the list at /limits/pizzas"])
        // The schema says it already.
        #expect(violations(traveller, ["pizza": 7]) == ["/pizza must be a string"])
        #expect(violations(traveller, .emptyObject) == ["/pizza is required"])
        traveller.services["limits"] = ["pizzas": [["id": "q"]]]
        try traveller.send("order", ["pizza": "q"])
    }

    @Test(
        "where there is no list, or an empty one, nothing can be chosen, and the reason says so",
        arguments: [
            (nil, "cannot be chosen: there is no list at /limits/pizzas"),
            ([], "cannot be chosen: the list at /limits/pizzas is empty"),
            ("none", "cannot be chosen: /limits/pizzas is a string; x-options takes a list"),
            ([["name": "without an id"]], "cannot be chosen: the list at /limits/pizzas is empty"),
        ] as [(JSONDocument?, String)])
    func nothing(pizzas: JSONDocument?, detail: String) throws {
        let traveller = try traveller(Self.flow(Self.plain), pizzas)
        let pizza = try schema(traveller)?[member: "properties"]?[member: "pizza"]
        #expect(pizza?[member: "enum"] == nil && pizza?[member: "x-options"] == [])
        #expect(violations(traveller, ["pizza": "m"]) == ["/pizza \(detail)"])
    }

    @Test("a list has at most 1,000 choices")
    func bound() throws {
        func menu(_ count: Int) -> JSONDocument {
            JSONDocument((0..<count).map { ["id": JSONDocument("\($0)"), "name": "A pizza with a name"] })
        }
        let most = try traveller(Self.flow(Self.plain), menu(1_000))
        #expect(try schema(most)?[member: "properties"]?[member: "pizza"]?[member: "enum"]?.count == 1_000)
        #expect(most.refusal(of: "order", ["pizza": "999"]) == nil)
        let more = try traveller(Self.flow(Self.plain), menu(1_001))
        #expect(try schema(more)?[member: "properties"]?[member: "pizza"]?[member: "x-options"] == [])
        #expect(
            violations(more, ["pizza": "999"]) == [
                "/pizza cannot be chosen: /limits/pizzas has 1001 elements; x-options takes at most 1000"
            ])
    }

    @Test("members inside of members and elements of arrays are chosen, too, and each is checked")
    func nested() throws {
        let schema: JSONDocument = [
            "properties": [
                "lines": [
                    "type": "array",
                    "items": ["properties": ["items": ["items": ["x-options": nil]], "size": .emptyObject]],
                ],
                "first": [
                    "properties": ["pizza": ["x-options": nil, "x-say": "We do not have {/event/first/pizza}."]]
                ],
            ]
        ]
        let traveller = try traveller(Self.flow(schema), Self.menu)
        let places = [
            "/properties/lines/items/properties/items/items", "/properties/first/properties/pizza",
        ]
        let shown = try self.schema(traveller)
        for place in places {
            let field = JSONPointer(parsing: place).flatMap { shown?.value(at: $0) }
            #expect(field?[member: "enum"] == ["m", "f"])
        }
        let data: JSONDocument = [
            "lines": [["items": ["m", "q"]], .emptyObject, ["items": []], ["items": ["r"]]], "first": ["pizza": "q"],
        ]
        let wrong = "must be one of the values in the list at /limits/pizzas"
        #expect(
            violations(traveller, data) == [
                "/first/pizza We do not have q.", "/lines/0/items/1 \(wrong)", "/lines/3/items/0 \(wrong)",
            ])
        #expect(traveller.refusal(of: "order", ["lines": [["items": ["m", "f", "m"]]]]) == nil)
    }

    @Test("values are compared as JSON Schema does, and titles are texts")
    func kinds() throws {
        // Lists and objects are no choices, and a value is there once.
        let pizzas: JSONDocument = [
            ["id": 1, "name": 2.5], ["id": true], ["id": ["a": 1], "name": nil], ["id": [1]],
            ["id": 1.0, "name": "one"], ["id": "t"], ["id": "t"], ["id": nil],
        ]
        let schema: JSONDocument = ["properties": ["pizza": ["x-options": nil]]]
        let traveller = try traveller(Self.flow(schema), pizzas)
        #expect(
            try self.schema(traveller)?[member: "properties"]?[member: "pizza"]?[member: "x-options"] == [
                ["value": 1, "title": "2.5"], ["value": true, "title": "true"], ["value": "t", "title": "t"],
                ["value": nil, "title": ""],
            ])
        for good in [1, 1.0, true, "t", nil] as [JSONDocument] {
            #expect(traveller.refusal(of: "order", ["pizza": good]) == nil)
        }
        for bad in ["1", 2, false, ["a": 1], [1]] as [JSONDocument] {
            #expect(violations(traveller, ["pizza": bad])?.count == 1)
        }
    }

    @Test("what a client sends costs no more than a step may, and has ten reasons at most")
    func budget() throws {
        let schema: JSONDocument = ["properties": ["pizza": ["items": ["x-options": nil]]]]
        let traveller = try traveller(Self.flow(schema), Self.menu)
        let many = JSONDocument([JSONDocument](repeating: "m", count: 50_000))
        let reasons = try #require(violations(traveller, ["pizza": many]))
        #expect(reasons.count == 10 && reasons[0].hasSuffix("takes more work to look up than one step may do"))
        let wrong = JSONDocument([JSONDocument](repeating: "x", count: 100))
        #expect(violations(traveller, ["pizza": wrong])?.count == 10)
    }

    @Test("titles are computed, and texts of the schema hold values in each language")
    func texts() throws {
        let flow = Flows.make([
            "a": [
                "accepts": [
                    "order": [
                        "description": ["be": "At most {/limits/high}", "de": "Höchstens {/limits/high}"],
                        "properties": [
                            "pizza": [
                                "title": "Of {/quote/author}",
                                "x-options": [
                                    "of": ["$filter": ["of": "/limits/pizzas", "where": ["is": "/item/is_there"]]],
                                    "value": "/index", "title": ["$concat": ["/item/name", " (", "/item/id", ")"]],
                                ],
                            ]
                        ],
                    ]
                ], "on": ["order": ["target": "a"]],
            ]
        ])
        var traveller = try Traveller(flow)
        traveller.services["limits"] = [
            "high": 3, "pizzas": [["id": "m", "name": "M"], ["id": "f", "name": "F", "is_there": true]],
        ]
        let schemas = try traveller.engine.eventSchemas(
            of: traveller.journey, services: traveller.services, now: traveller.now)
        let pizza = schemas["order"]?.schema[member: "properties"]?[member: "pizza"]
        #expect(
            pizza?[member: "title"] == "Of Nobody" && pizza?[member: "x-options"] == [["value": 0, "title": "F (f)"]])
        #expect(schemas["order"]?.schema[member: "description"] == "At most 3")
        #expect(schemas["order"]?.schema(in: "de")[member: "description"] == "Höchstens 3")
    }

    @Test("the author's own enum leaves out choices, and is no longer there when none is left")
    func own() throws {
        let schema: JSONDocument = ["properties": ["pizza": ["enum": ["f", "q", 1], "x-options": nil]]]
        let some = try traveller(Self.flow(schema), Self.menu)
        let pizza = try self.schema(some)?[member: "properties"]?[member: "pizza"]
        #expect(pizza?[member: "enum"] == ["f"])
        #expect(pizza?[member: "x-options"] == [["value": "f", "title": "Funghi"]])
        #expect(some.refusal(of: "order", ["pizza": "f"]) == nil)
        for bad in ["m", "q"] { #expect(violations(some, ["pizza": JSONDocument(bad)])?.count == 1) }
        let none = try traveller(Self.flow(schema), [["id": "m"]])
        let empty = try self.schema(none)?[member: "properties"]?[member: "pizza"]
        #expect(empty == ["x-options": []])
    }

    private static func large(_ fields: Int) -> JSONDocument {
        let pizza: JSONDocument = ["type": "string", "x-options": nil]
        return flow(["properties": JSONDocument(members: (0..<fields).map { ("f\($0)", pizza) })])
    }

    @Test("choices beyond the budget are left out, and a step decides")
    func beyond() throws {
        let menu = JSONDocument((0..<1_000).map { ["id": JSONDocument("\($0)"), "name": "A pizza"] })
        let traveller = try traveller(Self.large(60), menu)
        let schema = try schema(traveller)
        let fields = (0..<60).compactMap { schema?[member: "properties"]?[member: "f\($0)"] }
        let shown = fields.filter { $0[member: "x-options"] != nil }
        #expect((5..<60).contains(shown.count))
        #expect(shown.allSatisfy { $0[member: "enum"]?.count == 1_000 })
        #expect(fields.filter { $0[member: "x-options"] == nil }.allSatisfy { $0 == ["type": "string"] })
        #expect(traveller.refusal(of: "order", ["f59": "999"]) == nil)
        #expect(violations(traveller, ["f59": "q"])?.count == 1)
    }

    @Test("several journeys share one budget")
    func shared() throws {
        let menu = JSONDocument((0..<100).map { ["id": JSONDocument("\($0)"), "name": "A pizza"] })
        let traveller = try traveller(Self.large(10), menu)
        var work = EventSchemas.mostWork
        var shown: [Bool] = []
        for _ in 0..<50 {
            let schemas = try traveller.engine.eventSchemas(
                of: traveller.journey, services: traveller.services, now: traveller.now, work: work)
            shown.append(schemas["order"]?.schema[member: "properties"]?[member: "f9"]?[member: "x-options"] != nil)
            #expect(schemas.work < work || work == 0)
            work = schemas.work
        }
        #expect(shown.first == true && shown.last == false)
        #expect(shown == shown.sorted { $0 && !$1 })
    }
}
