import JSONDocument
import Sessions
import Testing

@Suite struct LabelTests {
    private let fixture: SessionsFixture

    init() throws { fixture = try SessionsFixture() }

    private func labels(_ session: Session) throws -> [String: String] {
        let items = try session.summary().labels.items
        return Dictionary(uniqueKeysWithValues: items.map { ($0.name, $0.value) })
    }

    @Test("names that look the same and differ in a byte are two labels")
    func lookalikes() async throws {
        let (session, _) = try await fixture.sessions.create(labels: ["\u{e9}": "1", "e\u{301}": "2"])
        #expect(try session.summary().labels.items.map(\.value).sorted() == ["1", "2"])
    }

    @Test("labels are set, replaced and removed")
    func merge() async throws {
        let (session, _) = try await fixture.sessions.create(labels: ["b": "2", "a": "1"], mode: .cookie)
        #expect(try session.summary().labels.items.map(\.name) == ["a", "b"])
        #expect(try session.summary().mode == .cookie)
        try await session.updateLabels(["a": nil, "b": "3", "c": "4", "d": nil])
        #expect(try labels(session) == ["b": "3", "c": "4"])
        #expect(try session.summary().revision == 2)
        try await session.updateLabels(.null)
        #expect(try labels(session) == [:])
        #expect(try session.summary().mode == .cookie)
    }

    @Test(
        "labels that break a rule are refused, with a pointer each",
        arguments: [
            (["ok": "x", "n": 1], ["/labels/n"]), (["a/b": true, "~": []], ["/labels/a~1b", "/labels/~0"]),
            (["": "x"], ["/labels/"]), ([], ["/labels"]), ("x", ["/labels"]),
            ([.init(String(repeating: "n", count: 65)): "x"], ["/labels/" + String(repeating: "n", count: 65)]),
            (["long": .init(String(repeating: "v", count: 257))], ["/labels/long"]),
        ] as [(JSONDocument, [String])])
    func rules(patch: JSONDocument, pointers: [String]) async throws {
        let (session, _) = try await fixture.sessions.create(labels: ["a": "1"])
        let error = await #expect(throws: SessionError.self) { try await session.updateLabels(patch) }
        guard case .invalid(let errors) = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(errors.map(\.pointer) == pointers)
        #expect(try labels(session) == ["a": "1"])
        await #expect(throws: SessionError.self) { try await fixture.sessions.create(labels: patch) }
    }

    @Test("32 labels are the most")
    func most() async throws {
        let all = JSONDocument(members: (0..<32).map { (name: "l\($0)", value: "x") })
        let (session, _) = try await fixture.sessions.create(labels: all)
        await #expect(throws: SessionError.self) { try await session.updateLabels(["one-more": "x"]) }
        try await session.updateLabels(["one-more": "x", "l0": nil])
        #expect(try labels(session).count == 32)
    }
}
