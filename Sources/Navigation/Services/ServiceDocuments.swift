import JSONDocument

/// The services of a session as a step reads them. `Sessions` implements it over a unit of work, tests over a
/// dictionary.
///
/// The engine only reads. The changes of a step are in ``Step/changes``, in order. The caller applies them together
/// with storing the journey, or does neither.
public protocol ServiceDocuments {
    /// The state of a service, or its default when it was never written; nil when there is no such service.
    func document(of service: String) -> JSONDocument?

    /// The state of a service after it was cleared or removed; nil when there is no such service.
    func defaultDocument(of service: String) -> JSONDocument?

    /// The JSON text of ``document(of:)``, where it is stored; nil makes the engine serialize the document.
    func text(of service: String) -> [UInt8]?

    /// Why a document cannot be the state of a service, with pointers within the document; empty when it can.
    func violations(of document: JSONDocument, in service: String) -> [JSONViolation]
}

extension ServiceDocuments {
    /// No text is stored.
    public func text(of service: String) -> [UInt8]? { nil }
}

/// A change of one service by a step.
public struct ServiceChange: Sendable, Equatable {
    /// The name of the service.
    public let service: String
    /// What the step does to it.
    public let effect: Effect

    /// A change of a service.
    public init(service: String, effect: Effect) {
        self.service = service
        self.effect = effect
    }

    /// What a step does to a service.
    public enum Effect: Sendable, Equatable {
        /// The new state, which fits the schema.
        case written(JSONDocument)
        /// The service is set to its default, if an instance lives.
        case cleared
        /// The instance is removed.
        case removed
    }
}

/// The services that flows may use, for checking the flows: their names and the schemas of their documents.
public struct ServiceDirectory: Sendable {
    /// One service.
    public struct Entry: Sendable {
        /// The name of the service.
        public let name: String
        /// The JSON Schema (draft 7) of its state; nil when it has none.
        public let schema: JSONDocument?
        /// Whether flows may only read it, such as the signed-in user.
        public let isReadOnly: Bool

        /// A service that flows may use.
        public init(name: String, schema: JSONDocument? = nil, isReadOnly: Bool = false) {
            self.name = name
            self.schema = schema
            self.isReadOnly = isReadOnly
        }
    }

    /// The names of all services, sorted.
    public let names: [String]
    private let entries: [String: Entry]

    /// Of several entries with one name, the first counts.
    public init(_ entries: [Entry]) {
        names = entries.map(\.name).sorted()
        self.entries = Dictionary(entries.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
    }

    /// The service of that name.
    public subscript(name: String) -> Entry? { entries[name] }
}
