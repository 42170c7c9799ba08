import JSONDocument

/// What flows can be checked against: which services there are, and what their documents may look like.
public struct ServiceDirectory: Sendable {
    /// One service that flows may use.
    public struct Entry: Sendable {
        /// The name by which flows refer to it.
        public let name: String
        /// JSON Schema (draft 7); nil when nothing is known of it.
        public let schema: JSONDocument?
        /// Whether flows may only look at it, as at the signed-in user.
        public let isReadOnly: Bool

        /// A service by its name; without a schema every document is accepted.
        public init(name: String, schema: JSONDocument? = nil, isReadOnly: Bool = false) {
            self.name = name
            self.schema = schema
            self.isReadOnly = isReadOnly
        }
    }

    /// The names of all services, sorted.
    public let names: [String]
    private let entries: [String: Entry]

    /// Of two entries with one name the first counts.
    public init(_ entries: [Entry]) {
        names = entries.map(\.name).sorted()
        self.entries = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The service of that name, if there is one.
    public subscript(name: String) -> Entry? { entries[name] }
}
