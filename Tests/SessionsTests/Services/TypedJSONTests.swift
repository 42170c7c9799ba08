import Foundation
import JSONDocument
import SeededRandomness
import Testing

@testable import Sessions

@Suite("Codable values as documents")
struct TypedJSONTests {
    struct Order: Codable, Equatable {
        enum Kind: String, Codable, CaseIterable { case small, large }
        enum Place: Codable, Equatable {
            case shelf(Int)
            case person(name: String, floor: Int8?)
            case nowhere
        }
        class Base: Codable {
            var id = 1
        }
        final class Derived: Base {
            var name = ""

            private enum CodingKeys: String, CodingKey { case name }

            init(id: Int, name: String) {
                super.init()
                (self.id, self.name) = (id, name)
            }
            required init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                try super.init(from: container.superDecoder())
            }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(name, forKey: .name)
                try super.encode(to: container.superEncoder())
            }
        }

        var kind = Kind.small
        var places: [Place] = []
        var counts: [String: Int] = [:]
        var byNumber: [Int: [Bool?]] = [:]
        var whole: UInt64 = 0
        var least: Int64 = 0
        var byte: UInt8 = 0
        var ratio = 0.0
        var short: Float = 0
        var note: String?
        var inner: [Order] = []
    }

    private static func random(_ random: inout SeededGenerator, depth: Int = 0) -> Order {
        var order = Order()
        order.kind = Bool.random(using: &random) ? .small : .large
        order.places = (0..<Int.random(in: 0..<4, using: &random)).map { _ in
            switch Int.random(in: 0..<3, using: &random) {
            case 0: .shelf(Int.random(in: 0..<1_000, using: &random) - 500)
            case 1:
                .person(
                    name: "Ädä \"\(Int.random(in: 0..<9, using: &random))\"",
                    floor: Int.random(in: 0..<2, using: &random) == 0 ? nil : 7)
            default: .nowhere
            }
        }
        for _ in 0..<Int.random(in: 0..<4, using: &random) {
            order.counts["k\(Int.random(in: 0..<9, using: &random))"] = Int.random(
                in: 0..<100, using: &random)
        }
        for _ in 0..<Int.random(in: 0..<3, using: &random) {
            order.byNumber[Int.random(in: 0..<9, using: &random)] = [true, nil, false]
        }
        order.whole = [0, 1, .max, UInt64(Int64.max) + 1].randomElement(using: &random) ?? 0
        order.least = [.min, .max, 0, -1].randomElement(using: &random) ?? 0
        order.byte = UInt8(Int.random(in: 0..<256, using: &random))
        order.ratio = [0, -0.5, 1e300, 0.1, 3].randomElement(using: &random) ?? 0
        order.short = [0, 0.1, -2.5, 16_777_216].randomElement(using: &random) ?? 0
        order.note = Int.random(in: 0..<2, using: &random) == 0 ? nil : "\u{1F34F} / \\ \n"
        if depth < 2 {
            order.inner = (0..<Int.random(in: 0..<3, using: &random)).map { _ in
                Self.random(&random, depth: depth + 1)
            }
        }
        return order
    }

    @Test(
        "a value becomes what Foundation makes of it, and comes back",
        arguments: 1...40 as ClosedRange<UInt64>)
    func roundTrip(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let order = Self.random(&random)
        let document = try TypedJSON.document(of: order)
        #expect(document == (try JSONDocument(parsing: Array(JSONEncoder().encode(order)))))
        #expect(try TypedJSON.decode(Order.self, document) == order)
        #expect(try JSONDecoder().decode(Order.self, from: Data(document.serialized())) == order)
    }

    @Test("a class with its base, values alone, and numbers that JSON does not have")
    func others() throws {
        let document = try TypedJSON.document(of: Order.Derived(id: 5, name: "a"))
        #expect(document == ["name": "a", "super": ["id": 5]])
        let back = try TypedJSON.decode(Order.Derived.self, document)
        #expect(back.id == 5 && back.name == "a")
        #expect(try TypedJSON.document(of: 7) == 7)
        #expect(try TypedJSON.document(of: [Int?.none, 1]) == [nil, 1])
        #expect(try TypedJSON.document(of: String?.none) == .null)
        #expect(try TypedJSON.decode(Int.self, 3.0) == 3)
        #expect(throws: EncodingError.self) { try TypedJSON.document(of: ["a": Double.nan]) }
        #expect(throws: EncodingError.self) { try TypedJSON.document(of: -Float.infinity) }
    }

    @Test(
        "what does not fit says where",
        arguments: [
            (["kind": "huge"], "/kind"), (["byte": 256], "/byte"), (["byte": -1], "/byte"),
            (["ratio": "1"], "/ratio"),
            (["least": 0.5], "/least"), (["counts": ["a": true]], "/counts/a"),
            (["counts": []], "/counts"),
            (["places": [["nowhere": [:]], ["shelf": ["_0": "x"]]]], "/places/1/shelf/_0"),
            (["inner": [["kind": "small"]]], "/inner/0/places"), (["whole": nil], "/whole"),
            (["inner": 1], "/inner"),
        ] as [(JSONDocument, String)])
    func places(patch: JSONDocument, pointer: String) throws {
        let document = try TypedJSON.document(of: Order()).merging(["note": "x"])
        let broken = JSONDocument(
            members: (document.members ?? []).filter { patch[member: $0.name].map { _ in false } ?? true }
                + (patch.members ?? []))
        let error = #expect(throws: JSONViolation.self) { try TypedJSON.decode(Order.self, broken) }
        #expect(error?.pointer == pointer)
    }
}
