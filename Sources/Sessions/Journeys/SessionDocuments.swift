import JSONDocument
import Navigation

/// The services of a session as a step of a journey sees them. A document is parsed when it is first asked for, and
/// those that nobody asks for are not.
///
/// Lives as long as one unit of work, on one thread.
final class SessionDocuments: ServiceDocuments {
    private let catalog: ServiceCatalog
    /// Where the step begins: what has reached the end of its lifetime is gone from it.
    private let start: PendingState
    private var documents: [KnownDocument] = []
    /// Set when a store has not kept a document as it was: then the step does not count.
    private(set) var failure: SessionError?

    private struct KnownDocument {
        let service: RegisteredService
        let document: JSONDocument
    }

    init(_ start: PendingState) {
        catalog = start.catalog
        self.start = start
    }

    func document(of name: String) -> JSONDocument? {
        guard let service = service(named: name) else { return nil }
        for known in documents where known.service === service { return known.document }
        let document: JSONDocument
        do throws(SessionError) {
            document = try service.document(parsing: start.document(of: service)?.bytes)
        } catch {
            failure = error
            document = service.default
        }
        documents.append(KnownDocument(service: service, document: document))
        return document
    }

    func defaultDocument(of name: String) -> JSONDocument? { service(named: name)?.default }

    func violations(of document: JSONDocument, in name: String) -> [JSONViolation] {
        service(named: name)?.fit(document).violations ?? []
    }

    /// What the service is after a step.
    func replace(_ service: RegisteredService, by document: JSONDocument) {
        documents.removeAll { $0.service === service }
        documents.append(KnownDocument(service: service, document: document))
    }

    /// Journeys do not see the service that keeps them.
    private func service(named name: String) -> RegisteredService? {
        catalog[name].flatMap { $0.isKeptOtherwise ? nil : $0 }
    }
}
