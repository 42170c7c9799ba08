import JSONDocument
import ServiceLocator

/// The documents of the process as a line of an archive, the one after the header:
///
///     {"scope": "process", "revision": 7, "services": […], "sum": …}
struct ArchivedProcess: Sendable {
    /// In the order in which they were made.
    let services: [ServiceDocument]

    /// - Returns: `nil` when none was written.
    static func line(_ environment: SessionEnvironment) throws(SessionError) -> [UInt8]? {
        let state = environment.processDocuments.now
        if let failure = state.failure { throw failure }
        guard let record = state.record, record.services.contains(where: { isOfProcess($0, environment) }) else {
            return nil
        }
        var json = JSONWriter()
        json.beginObject()
        json.member("scope", ServiceScope.process.rawValue)
        json.member("revision", record.revision)
        json.services(of: record, environment)
        return ArchiveLine.seal(json)
    }

    private static func isOfProcess(_ document: ServiceDocument, _ environment: SessionEnvironment) -> Bool {
        let service = environment.definitions.catalog[document.service]
        return service.isDeclared && service.scope == .process
    }

    /// Whether a line is one.
    static func isOne(_ document: JSONDocument) -> Bool { document[member: "scope"] != nil }

    /// - Throws: ``ArchivedSession/Refusal``.
    init(_ document: JSONDocument, _ environment: SessionEnvironment) throws(ArchivedSession.Refusal) {
        let now = environment.clock.now()
        var line = ArchiveMembers(document, now: now, offset: environment.clock.wall(at: now) - now)
        _ = line.member("sum")
        if line.string("scope") != "process" { line.refuse("scope", "must be process") }
        let revision = line.number("revision")
        services = ArchivedSession.services(&line, of: .process, revision: revision, environment)
        let problems = line.finish()
        guard problems.isEmpty else { throw ArchivedSession.Refusal(problems: problems) }
    }
}
