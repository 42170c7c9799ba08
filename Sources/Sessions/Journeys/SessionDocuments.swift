import JSONDocument
import Navigation

/// The services of a session as a step of a journey sees them. A document is parsed when it is first asked for, unless
/// the session remembers it, and those that nobody asks for are not.
///
/// Lives as long as one unit of work, on one thread.
final class SessionDocuments: ServiceDocuments {
    private let catalog: ServiceCatalog
    /// What is kept where the step begins: what has reached the end of its lifetime is gone from it.
    private let start: [ServiceDocument]
    /// What was asked for, and what is remembered.
    private(set) var known: [KnownDocument]
    /// Set when a store has not kept a document as it was: then the step does not count.
    private(set) var failure: SessionError?

    /// - Parameter known: what is remembered. What is kept otherwise by now is left out.
    init(_ start: [ServiceDocument], of catalog: ServiceCatalog, knowing known: [KnownDocument]) {
        self.catalog = catalog
        self.start = start
        self.known = known
        for place in known.indices.reversed() where !isKept(known[place]) { self.known.remove(at: place) }
    }

    func document(of name: String) -> JSONDocument? {
        // Before the catalogue is asked, which takes longer.
        for place in known.indices where known[place].service.name == name { return known[place].document }
        guard let service = service(named: name) else { return nil }
        let text = text(of: service)
        let document: JSONDocument
        do throws(SessionError) {
            document = try service.document(parsing: text)
        } catch {
            failure = error
            return service.default
        }
        known.append(KnownDocument(service: service, text: text, document: document))
        return document
    }

    func text(of name: String) -> [UInt8]? {
        for place in known.indices where known[place].service.name == name {
            return known[place].text ?? known[place].service.defaultBytes
        }
        return service(named: name).map { text(of: $0) ?? $0.defaultBytes }
    }

    func defaultDocument(of name: String) -> JSONDocument? { service(named: name)?.default }

    func violations(of document: JSONDocument, in name: String) -> [JSONViolation] {
        service(named: name)?.fit(document).violations ?? []
    }

    /// What the service is after a step.
    ///
    /// - Parameter text: what is kept of it; nil for a default that is not written.
    func replace(_ service: RegisteredService, by document: JSONDocument, keptAs text: [UInt8]?) {
        known.removeAll { $0.service === service }
        known.append(KnownDocument(service: service, text: text, document: document))
    }

    private func text(of service: RegisteredService) -> [UInt8]? {
        for document in start where document.service == service.index { return document.bytes }
        return nil
    }

    private func isKept(_ document: KnownDocument) -> Bool {
        guard let text = document.text else { return false }
        return self.text(of: document.service)?.isIdentical(to: text) ?? false
    }

    /// Journeys do not see the service that keeps them.
    private func service(named name: String) -> RegisteredService? {
        catalog[name].flatMap { $0.isKeptOtherwise ? nil : $0 }
    }
}
