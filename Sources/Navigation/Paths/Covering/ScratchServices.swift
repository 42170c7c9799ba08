import JSONDocument

/// Services with what steps have changed, which nobody keeps.
struct ScratchServices: ServiceDocuments {
    let source: any ServiceDocuments
    private(set) var changed: [String: JSONDocument] = [:]

    init(over source: any ServiceDocuments) { self.source = source }

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
}
