import JSONDocument

/// What flows can be checked against: which services there are, and what their documents may look like.
public struct ServiceDirectory: Sendable {
    public struct Entry: Sendable {
        public let name: String
        /// JSON Schema (draft 7); nil when nothing is known of it.
        public let schema: JSONDocument?
        /// Whether flows may only look at it, as at the signed-in user.
        public let isReadOnly: Bool

        public init(name: String, schema: JSONDocument? = nil, isReadOnly: Bool = false) {
            self.name = name
            self.schema = schema
            self.isReadOnly = isReadOnly
        }
    }

    public let names: [String]
    private let entries: [String: Entry]

    public init(_ entries: [Entry]) {
        names = entries.map(\.name).sorted()
        self.entries = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    public subscript(name: String) -> Entry? { entries[name] }
}
