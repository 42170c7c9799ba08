import JSONDocument
import Navigation

/// Services with the changes of steps on top, which are never stored.
struct ScratchServices: ServiceDocuments {
    let source: any ServiceDocuments
    private(set) var changed: [String: JSONDocument] = [:]

    /// - Parameter changed: what is there already.
    init(over source: any ServiceDocuments, changed: [String: JSONDocument] = [:]) {
        self.source = source
        self.changed = changed
    }

    subscript(service: String) -> JSONDocument? {
        get { document(of: service) }
        set { changed[service] = newValue }
    }

    mutating func perform(_ changes: [ServiceChange]) {
        for change in changes {
            switch change.effect {
            case .written(let document): changed[change.service] = document
            case .cleared, .removed: changed[change.service] = source.defaultDocument(of: change.service)
            }
        }
    }

    func document(of service: String) -> JSONDocument? { changed[service] ?? source.document(of: service) }

    func defaultDocument(of service: String) -> JSONDocument? { source.defaultDocument(of: service) }

    func violations(of document: JSONDocument, in service: String) -> [JSONViolation] {
        source.violations(of: document, in: service)
    }

    func completed(_ document: JSONDocument, in service: String) -> JSONDocument {
        source.completed(document, in: service)
    }

    func call(
        _ command: String, of service: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        try source.call(
            command, of: service, with: input, now: now, work: &work, reading: document, isLive: isLive)
    }
}
