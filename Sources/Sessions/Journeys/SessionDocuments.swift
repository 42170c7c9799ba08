import JSONDocument
import Navigation

/// The services of a session as a step of a journey sees them. A document is parsed when it is first asked for, unless
/// the session remembers it, and those that nobody asks for are not.
///
/// Lives as long as one unit of work, on one thread.
final class SessionDocuments: ServiceDocuments {
    private let environment: SessionEnvironment
    private let definitions: SessionDefinitions
    /// What documents are checked against and completed by: the session's services, but where others are tried.
    private let shapes: ServiceCatalog
    /// What lives where the step begins, written or not: what has reached the end of its lifetime is gone from it.
    private let start: [ServiceDocument]
    /// Also where the step begins: it sees one state of them.
    let process: ProcessState
    /// What was asked for, and what is remembered.
    private(set) var known: [KnownDocument]
    /// The patches of migrations that the session's services have had.
    var patched: [ServicePatch] = []
    var roomForTasks = SideTask.mostOfSession
    /// Set when a stored document is damaged. Then the step fails.
    private(set) var failure: SessionError?

    /// Returns and forgets ``failure``.
    func takeFailure() -> SessionError? {
        defer { failure = nil }
        return failure
    }

    /// - Parameter known: what is remembered. What is kept otherwise by now is left out.
    init(
        _ start: [ServiceDocument], _ environment: SessionEnvironment, _ definitions: SessionDefinitions,
        knowing known: [KnownDocument] = [], trying shapes: ServiceCatalog? = nil
    ) {
        self.environment = environment
        self.definitions = definitions
        self.shapes = shapes ?? definitions.catalog
        self.start = start
        process = environment.processDocuments.now
        self.known = known
        for place in known.indices.reversed() where !isKept(known[place]) { self.known.remove(at: place) }
    }

    var catalog: ServiceCatalog { definitions.catalog }

    func document(of name: String) -> JSONDocument? {
        // Before the catalogue is asked, which takes longer.
        for place in known.indices where known[place].service.name == name { return known[place].document }
        guard let service = service(named: name) else { return defaultDocument(of: name) }
        let kept: ServiceDocument?
        let document: JSONDocument
        do throws(SessionError) {
            kept = try self.kept(service)
            document = try service.document(parsing: service.readable(kept))
        } catch {
            failure = error
            return service.default
        }
        known.append(
            KnownDocument(service: service, text: kept?.bytes, revision: kept?.revision ?? 0, document: document))
        return document
    }

    func text(of name: String) -> [UInt8]? {
        for place in known.indices where known[place].service.name == name {
            return known[place].text ?? known[place].service.defaultBytes
        }
        guard let service = service(named: name) else { return nil }
        do throws(SessionError) {
            return try service.readable(try kept(service)) ?? service.defaultBytes
        } catch {
            failure = error
            return service.defaultBytes
        }
    }

    func revision(of name: String) -> UInt64 {
        for place in known.indices where known[place].service.name == name { return known[place].revision }
        return service(named: name).flatMap { try? kept($0)?.revision } ?? 0
    }

    func defaultVersion(of name: String) -> UInt64 {
        for place in known.indices where known[place].service.name == name {
            return known[place].service.defaultVersion
        }
        return service(named: name)?.defaultVersion ?? 0
    }

    func lifetime(of name: String) -> Int64? { service(named: name)?.lifetime }

    func completed(_ document: JSONDocument, in name: String) -> JSONDocument {
        shapes[name]?.fit(document).state ?? document
    }

    func isPatched(_ patch: ServicePatch) -> Bool { patched.contains(patch) }

    func defaultDocument(of name: String) -> JSONDocument? { service(named: name, in: shapes)?.default }

    func violations(of document: JSONDocument, in name: String) -> [JSONViolation] {
        shapes[name]?.fit(document).violations ?? []
    }

    func call(
        _ command: String, of name: String, with input: JSONDocument?, now: Int64, work: inout Int,
        reading document: @escaping (String) -> JSONDocument?, isLive: @escaping (String) -> Bool?
    ) throws(CommandRefusal) -> CommandResult {
        do throws(SessionError) {
            let service = try catalog.service(named: name)
            let kept = start.map { catalog[$0.service] }.filter(\.isDeclared)
            let living =
                kept.filter { isLive($0.name) ?? true }
                + catalog.services.filter { service in
                    isLive(service.name) == true && !kept.contains { $0 === service }
                }
            return try environment.call(
                definitions, try service.command(named: command), input, of: service, now: now, work: &work,
                living: living, reading: document)
        } catch {
            switch error {
            case .refused(let refusal):
                throw CommandRefusal([refusal.reason], isOutside: refusal.isOutside)
            case .inputInvalid(let errors), .invalid(let errors):
                throw CommandRefusal(errors)
            default:
                failure = error
                throw CommandRefusal([])
            }
        }
    }

    /// What the service is after a step.
    ///
    /// - Parameters:
    ///   - text: what is kept of it; nil for a default that is not written.
    ///   - revision: of the write; 0 for a default that is not written.
    func replace(
        _ service: RegisteredService, by document: JSONDocument, keptAs text: [UInt8]?, revision: UInt64
    ) {
        known.removeAll { $0.service === service }
        known.append(KnownDocument(service: service, text: text, revision: revision, document: document))
    }

    private func kept(_ service: RegisteredService) throws(SessionError) -> ServiceDocument? {
        if service.scope == .process { return try process.document(of: service) }
        for document in start where document.service == service.index { return document }
        return nil
    }

    private func isKept(_ document: KnownDocument) -> Bool {
        guard let text = document.text else { return false }
        return (try? kept(document.service)?.bytes.isIdentical(to: text)) ?? false
    }

    /// Journeys do not see the service that keeps them.
    private func service(named name: String, in services: ServiceCatalog? = nil) -> RegisteredService? {
        (services ?? catalog)[name].flatMap { $0.isKeptOtherwise ? nil : $0 }
    }
}
