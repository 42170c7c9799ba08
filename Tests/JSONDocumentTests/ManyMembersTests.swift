import JSONDocument
import Testing

@Suite("Objects with many members")
struct ManyMembersTests {
    /// Names from 0 on in some other order than theirs.
    private func names(_ count: Int) -> [String] {
        var random = RandomDocuments(seed: UInt64(count))
        return (0..<count).map { (random.number(), "n\($0)") }.sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func text(_ names: [String]) -> String {
        "{\(names.map { "\"\($0)\":\"\($0)\"" }.joined(separator: ","))}"
    }

    @Test("are sorted by name, and each is found", arguments: [0, 1, 7, 8, 9, 10, 100, 5_000])
    func sorted(count: Int) throws {
        let names = names(count)
        let document = try JSONDocument(parsing: text(names))
        #expect(document.description == text(names.sorted()))
        #expect(names.allSatisfy { document[member: $0]?.string == $0 })
        #expect(document[member: "n"] == nil && document[member: "o"] == nil && document[member: ""] == nil)
        #expect(document == JSONDocument(members: names.map { (name: $0, value: JSONDocument($0)) }))
    }

    @Test("have no name twice, wherever it is", arguments: [2, 3, 8, 9, 1_000])
    func duplicates(count: Int) throws {
        for place in Set([0, count / 2 - 1, count - 2]) {
            var names = names(count)
            names[count - 1] = names[place]
            let text = text(names)
            let error = #expect(throws: JSONParseError.self) { try JSONDocument(parsing: text) }
            let offset = text.utf8.count - names[count - 1].utf8.count * 2 - 6
            #expect(error == JSONParseError(code: .duplicateMember, offset: offset, pointer: "/\(names[place])"))
        }
    }

    @Test("are merged as few are", arguments: [(0, 9), (3, 4), (3, 5), (9, 1), (20, 20), (2_000, 3_000)])
    func merged(count: Int, changes: Int) throws {
        let old = names(count)
        // Every third takes one away, and half of them are there already.
        let new = names(changes).enumerated().map { index, name in
            (name: index.isMultiple(of: 2) ? name : "m\(name)", value: index % 3 == 0 ? .null : JSONDocument(index))
        }
        var expected = Dictionary(uniqueKeysWithValues: old.map { ($0, JSONDocument($0)) })
        for (name, value) in new {
            expected[name] = value
            if value.isNull { expected.removeValue(forKey: name) }
        }
        let target = try JSONDocument(parsing: text(old))
        let patch = JSONDocument(members: new)
        let result = JSONDocument(members: expected.map { (name: $0.key, value: $0.value) })
        #expect(target.merging(patch) == result)
        #expect(try JSONSchema(true).merging(patch, into: target.serialized()) == result.serialized())
    }
}
