import JSONDocument

/// The services of a session as a step sees them. Sessions has one over its unit of work; tests have a dictionary.
///
/// The engine only reads: what a step changes is in its ``Step/changes``, in the order in which it was done, and is
/// for the caller to do, together with keeping the journey, or not at all.
public protocol ServiceDocuments {
    /// The state of a service, its default when nothing was written yet; nil when there is no service of that name.
    func document(of service: String) -> JSONDocument?

    /// What the service is after it was cleared or removed; nil when there is no service of that name.
    func defaultDocument(of service: String) -> JSONDocument?

    /// The text of ``document(of:)`` if it is at hand: then nobody has to write it. There need not be one.
    func text(of service: String) -> [UInt8]?

    /// What would be wrong with a document as the state of a service, pointers within the document; empty when it fits.
    func violations(of document: JSONDocument, in service: String) -> [JSONViolation]
}

extension ServiceDocuments {
    public func text(of service: String) -> [UInt8]? { nil }
}

/// What a step does to one service.
public struct ServiceChange: Sendable, Equatable {
    public let service: String
    public let effect: Effect

    public init(service: String, effect: Effect) {
        self.service = service
        self.effect = effect
    }

    public enum Effect: Sendable, Equatable {
        /// This is its state now; it was looked at against the schema.
        case written(JSONDocument)
        /// Back to its default, if an instance lives.
        case cleared
        /// The instance leaves.
        case removed
    }
}

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
