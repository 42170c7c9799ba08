import JSONDocument
import Testing

@Suite("JSON documents")
struct JSONDocumentTests {
    @Test("literals make documents, and documents give their values back")
    func values() {
        let document: JSONDocument = [
            "null": nil, "bool": true, "int": -7, "double": 0.5, "string": "é", "array": [1, [2]], "object": ["a": 1],
        ]
        #expect(document.kind == .object)
        #expect(document.count == 7)
        #expect(document[member: "null"]?.isNull == true)
        #expect(document[member: "bool"]?.bool == true)
        #expect(document[member: "int"]?.int == -7)
        #expect(document[member: "int"]?.double == -7)
        #expect(document[member: "double"]?.double == 0.5)
        #expect(document[member: "double"]?.int == nil)
        #expect(document[member: "string"]?.string == "é")
        #expect(document[member: "array"]?.elements == [1, [2]])
        #expect(document[member: "array"]?[1]?[0]?.int == 2)
        #expect(document[member: "array"]?[2] == nil)
        #expect(document[member: "array"]?[-1] == nil)
        #expect(document[member: "missing"] == nil)
        let names = document.members?.map(\.name)
        #expect(names == ["array", "bool", "double", "int", "null", "object", "string"])
    }

    @Test(
        "a value of another kind gives nothing", arguments: [nil, true, 1, 0.5, "1", [1], ["a": 1]] as [JSONDocument])
    func kinds(document: JSONDocument) {
        #expect((document.bool == nil) == (document.kind != .bool))
        #expect((document.string == nil) == (document.kind != .string))
        #expect((document.elements == nil) == (document.kind != .array))
        #expect((document.members == nil) == (document.kind != .object))
        #expect((document.double == nil) == (document.kind != .integer && document.kind != .double))
        #expect((document.int == nil) == (document.kind != .integer))
        #expect((document[member: "a"] == nil) == (document.kind != .object))
        #expect((document[0] == nil) == (document.kind != .array))
    }

    @Test(
        "a whole number is an Int however it is written, if it fits",
        arguments: [
            ("3", 3), ("3.0", 3), ("3e2", 300), ("3.5", nil), ("9223372036854775807", Int.max),
            ("9223372036854775808", nil), ("9.3e18", nil), ("-9223372036854775808", Int.min), ("1e300", nil),
        ] as [(String, Int?)])
    func ints(text: String, value: Int?) throws {
        #expect(try JSONDocument(parsing: text).int == value)
    }

    @Test("equality is that of values")
    func equality() throws {
        #expect(try JSONDocument(parsing: #"{"a":1,"b":[2]}"#) == JSONDocument(parsing: #"{"b":[2.0],"a":1}"#))
        #expect(["a": 1] as JSONDocument != ["a": 1, "b": nil])
        #expect([1, 2] as JSONDocument != [2, 1])
        #expect("1" as JSONDocument != 1)
        #expect(0 as JSONDocument != false)
    }

    @Test("a part outlives the whole that it was taken from")
    func parts() throws {
        func part() throws -> JSONDocument? {
            try JSONDocument(parsing: #"{"a":{"b":["kept"]}}"#)[member: "a"]?[member: "b"]
        }
        #expect(try part() == ["kept"])
        #expect(try part()?.serialized() == Array(#"["kept"]"#.utf8))
    }

    @Test("what is written is read back as the same, for documents made at random", arguments: 0..<50)
    func roundTrip(seed: UInt64) throws {
        var random = RandomDocuments(seed: seed)
        for _ in 0..<20 {
            let document = random.next(levels: 5)
            let bytes = document.serialized()
            let again = try JSONDocument(parsing: bytes)
            #expect(again == document, "seed \(seed)")
            #expect(again.serialized() == bytes, "seed \(seed)")
            #expect(document.merging(.emptyObject) == (document.kind == .object ? document : [:]), "seed \(seed)")
            var writer = JSONWriter()
            writer.document(document)
            #expect(writer.bytes == bytes, "seed \(seed)")
        }
    }

    @Test("random bytes never do more than throw", arguments: 0..<50)
    func randomBytes(seed: UInt64) {
        var random = RandomDocuments(seed: seed)
        let bytes = random.next(levels: 4).serialized()
        for _ in 0..<100 {
            var broken = bytes
            for _ in 0..<3 {
                let index = Int(random.number() % UInt64(broken.count))
                broken[index] = UInt8(truncatingIfNeeded: random.number())
            }
            do {
                let document = try JSONDocument(parsing: broken)
                #expect(try JSONDocument(parsing: document.serialized()) == document, "seed \(seed)")
            } catch {
                #expect(error.offset <= broken.count, "seed \(seed)")
            }
        }
    }
}

/// Documents at random, the same ones for the same seed (the generator is SplitMix64).
struct RandomDocuments {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func number() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    mutating func next(levels: Int) -> JSONDocument {
        switch number() % (levels > 0 ? 8 : 6) {
        case 0: .null
        case 1: JSONDocument(number() % 2 == 0)
        case 2: JSONDocument(Int(truncatingIfNeeded: number()))
        case 3: JSONDocument(Double(bitPattern: number()))
        case 4: JSONDocument(Double(Int32(truncatingIfNeeded: number())) / 8)
        case 5: JSONDocument(text())
        case 6: JSONDocument((0..<number() % 5).map { _ in next(levels: levels - 1) })
        default: JSONDocument(members: (0..<number() % 5).map { _ in (text(), next(levels: levels - 1)) })
        }
    }

    private mutating func text() -> String {
        let alphabet: [Character] = ["a", "b", "\"", "\\", "/", "~", "\n", "\u{0}", "\u{1F}", "é", "😀", "\u{FFFF}"]
        return String((0..<number() % 8).map { _ in alphabet[Int(number() % UInt64(alphabet.count))] })
    }
}
