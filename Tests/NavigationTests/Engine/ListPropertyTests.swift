import JSONDocument
import Navigation
import SeededRandomness
import Testing

@Suite("Lists, at random")
struct ListPropertyTests {
    private static let count = 12

    /// Values of functions over a list, with what they are by the simplest way to compute them.
    private static func values(_ list: [Int], _ generator: inout SeededGenerator) -> [(JSONDocument, JSONDocument)] {
        func json(_ numbers: some Sequence<Int>) -> JSONDocument { JSONDocument(numbers.map { JSONDocument($0) }) }
        let path: JSONDocument = "/limits/list"
        let least = Int.random(in: -3...3, using: &generator)
        let above: JSONDocument = ["compare": ["/item", ">", JSONDocument(least)]]
        let (from, length) = (Int.random(in: -9...9, using: &generator), Int.random(in: 0...5, using: &generator))
        let start = from < 0 ? max(0, list.count + from) : min(from, list.count)
        let squares = list.map { $0 * $0 }
        let places = list.indices.sorted { (squares[$0], $0) < (squares[$1], $1) }
        let falling = list.indices.sorted { (-squares[$0], $0) < (-squares[$1], $1) }
        let square: JSONDocument = ["$multiply": ["/item", "/item"]]
        var values: [(JSONDocument, JSONDocument)] = [
            (["$sum": ["of": path]], JSONDocument(list.reduce(0, +))),
            (
                ["$sum": ["of": path, "each": ["$add": ["/item", "/index"]]]],
                JSONDocument(list.enumerated().reduce(0) { $0 + $1.element + $1.offset })
            ),
            (["$map": ["of": path, "each": square]], json(squares)),
            (["$filter": ["of": path, "where": above]], json(list.filter { $0 > least })),
            (["$find": ["of": path, "where": above]], list.first { $0 > least }.map { JSONDocument($0) } ?? .null),
            (["$sort": ["of": path]], json(list.sorted())),
            (["$sort": ["of": path, "by": square]], json(places.map { list[$0] })),
            (["$sort": ["of": path, "by": square, "descending": true]], json(falling.map { list[$0] })),
            (["$slice": [path, JSONDocument(from), JSONDocument(length)]], json(list[start...].prefix(length))),
            (["$slice": [path, JSONDocument(from)]], json(list[start...])),
            (
                ["$unique": path],
                json(list.enumerated().filter { !list[..<$0.offset].contains($0.element) }.map(\.element))
            ),
            (["$join": [path, ","]], JSONDocument(list.map(String.init).joined(separator: ","))),
            (["$count": path], JSONDocument(list.count)),
        ]
        if let low = list.min(), let high = list.max() {
            values.append((["$min": path], JSONDocument(low)))
            values.append((["$max": path], JSONDocument(high)))
        }
        return values
    }

    @Test("functions are what loops make", arguments: 0..<60)
    func functions(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let list = (0..<Int.random(in: 0...Self.count, using: &generator)).map { _ in
            Int.random(in: -4...4, using: &generator)
        }
        let values = Self.values(list, &generator)
        let action: JSONDocument = [
            "op": "add", "path": "/limits/x", "value": JSONDocument(values.map(\.0)),
        ]
        var services = TestServices()
        services["limits"] = ["list": JSONDocument(list.map { JSONDocument($0) })]
        var traveller = try Traveller(Flows.make(["a": ["on": ["go": ["actions": [action]]]]]), services: services)
        try traveller.send("go")
        for (place, value) in values.enumerated() {
            #expect(
                traveller.services["limits"][member: "x"]?[place] == value.1, "seed \(seed): \(value.0) of \(list)")
        }
    }

    /// Elements are numbers, or a text, whose comparison with a number is undecided.
    @Test("every, some and in are all and any of what they say of each element", arguments: 0..<200)
    func guards(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        let list: [Int?] = (0..<Int.random(in: 0...4, using: &generator)).map { _ in
            Int.random(in: 0...3, using: &generator) == 0 ? nil : Int.random(in: 0...3, using: &generator)
        }
        let number = Int.random(in: 0...3, using: &generator)
        func all(_ verdicts: [Bool?]) -> Bool? {
            verdicts.contains(false) ? false : verdicts.contains(nil) ? nil : true
        }
        func any(_ verdicts: [Bool?]) -> Bool? { verdicts.contains(true) ? true : verdicts.contains(nil) ? nil : false }
        let isLess = list.map { $0.map { $0 < number } }
        let condition: JSONDocument = [
            "of": "/limits/list", "where": ["compare": ["/item", "<", JSONDocument(number)]],
        ]
        let guards: [(JSONDocument, Bool?)] = [
            (["every": condition], all(isLess)), (["some": condition], any(isLess)),
            (["in": [JSONDocument(number), "/limits/list"]], any(list.map { $0.map { $0 == number } })),
        ]
        let on = guards.enumerated().flatMap { place, guardian in
            [
                (name: "e\(place)", value: ["guard": guardian.0, "target": "b"] as JSONDocument),
                (name: "n\(place)", value: ["guard": ["not": guardian.0], "target": "b"] as JSONDocument),
            ]
        }
        var services = TestServices()
        services["limits"] = ["list": JSONDocument(list.map { $0.map { JSONDocument($0) } ?? "x" })]
        let traveller = try Traveller(
            Flows.make(["a": ["on": JSONDocument(members: on)], "b": .emptyObject]), services: services)
        for (place, guardian) in guards.enumerated() {
            let story: Comment = "seed \(seed): \(guardian.0) of \(list)"
            #expect((traveller.refusal(of: "e\(place)") == nil) == (guardian.1 == true), story)
            #expect((traveller.refusal(of: "n\(place)") == nil) == (guardian.1 == false), story)
            if guardian.1 != true { #expect(traveller.refusal(of: "e\(place)")?.violations.isEmpty == false, story) }
        }
    }
}
