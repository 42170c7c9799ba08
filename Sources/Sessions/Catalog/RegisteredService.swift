import JSONDocument
import Navigation
import ServiceLocator

/// A service of the frozen catalogue, shared by all sessions.
package final class RegisteredService: Sendable {
    private let definition: ServiceDefinition
    let nameBytes: [UInt8]
    /// Its place in documents: see ``ServiceNames``.
    package let index: UInt16
    /// Whether the catalogue declares it. What sessions have of any other service is kept and never shown.
    package let isDeclared: Bool
    /// The default as it is sent.
    package let defaultBytes: [UInt8]
    /// Another one when the default says anything else.
    let defaultVersion: UInt64
    package let schema: JSONSchema
    /// What flows are checked against.
    let entry: ServiceDirectory.Entry
    package let commands: [ServiceCommand]
    package let commandNames: [String]

    private let liveCount: LiveCount

    init(
        _ definition: ServiceDefinition, index: UInt16, schema: JSONSchema, commands: [ServiceCommand],
        isDeclared: Bool = true, live: LiveCount
    ) {
        self.definition = definition
        nameBytes = Array(definition.name.utf8)
        self.index = index
        self.isDeclared = isDeclared
        liveCount = live
        defaultBytes = definition.default.serialized()
        defaultVersion = ViewTag.of(definition.default)
        self.schema = schema
        entry = definition.entry
        self.commands = commands
        commandNames = commands.map(\.name)
    }

    package var name: String { definition.name }
    package var kind: String { definition.kind }
    package var `default`: JSONDocument { definition.default }
    package var scope: ServiceScope { definition.scope }
    package var lifetime: Int64? { definition.lifetime }
    package var concurrency: ServiceConcurrency { definition.concurrency }
    package var isUserBound: Bool { definition.isUserBound }
    package var isReadOnly: Bool { definition.isReadOnly }
    package var isHidden: Bool { definition.isHidden }
    package var isOpenToFlows: Bool { definition.isOpenToFlows }
    package var completesFromDefault: Bool { definition.completesFromDefault }
    var isKeptOtherwise: Bool { definition.isKeptOtherwise }
    var hooks: ServiceHooks { definition.hooks }
    var misfit: (@Sendable (JSONDocument) -> JSONViolation?)? { definition.misfit }

    /// - Throws: ``SessionError/noCommand(service:command:nearest:)``.
    package func command(named name: String) throws(SessionError) -> ServiceCommand {
        guard let command = commands.first(where: { $0.name == name }) else {
            throw .noCommand(service: self.name, command: name, nearest: NearestName.of(name, among: commandNames))
        }
        return command
    }

    /// Names occur in paths, metrics and logs. These characters need no escape in any of them.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"):
                    true
                default: false
                }
            }
    }

    /// The bytes to send for kept bytes.
    func shown(_ bytes: [UInt8], _ environment: SessionEnvironment) -> [UInt8] {
        guard isKeptOtherwise else { return bytes }
        return CoordinatorService.summary(of: bytes, environment.timestamp) ?? defaultBytes
    }

    /// Whether an instance that was created then has expired.
    func isOver(createdAt: Int64, now: Int64) -> Bool {
        guard let lifetime else { return false }
        return now - createdAt >= lifetime
    }

    /// Living instances in all sessions. An expired instance counts until its session is written.
    package var live: Int { liveCount.value }

    func countLive(_ difference: Int) { liveCount.add(difference) }
}

/// Converts what a client sends to the bytes that are kept.
extension RegisteredService {
    /// The bytes of a stored document, to show or to change; nil when there is none.
    ///
    /// - Throws: ``SessionError/damaged(service:reason:)``.
    func readable(_ document: ServiceDocument?) throws(SessionError) -> [UInt8]? {
        guard let document else { return nil }
        guard !document.isDamaged else { throw .damaged(service: name, reason: "The store cannot read it.") }
        return document.bytes
    }

    /// The document of kept bytes; the default when there are none.
    ///
    /// - Throws: ``SessionError/serviceFailed(service:reason:)`` when a store has damaged them.
    func document(parsing bytes: [UInt8]?) throws(SessionError) -> JSONDocument {
        guard let bytes else { return self.default }
        do {
            return try JSONDocument(parsing: bytes)
        } catch {
            throw .serviceFailed(service: name, reason: "The stored state is not JSON: \(error)")
        }
    }

    /// Checks a state and returns the bytes to keep.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with every violation of the schema,
    ///   ``SessionError/tooLarge(service:limit:)``.
    ///
    /// - Parameter isEncoded: whether an object's state was encoded to it. Then it decodes, and lacks what is nil.
    func bytes(of document: JSONDocument, limit: Int, isEncoded: Bool = false) throws(SessionError) -> [UInt8] {
        let (state, violations) = isEncoded ? (document, schema.violations(in: document)) : fit(document)
        guard violations.isEmpty else { throw .invalid(violations) }
        return try bounded(state.serialized(), by: limit)
    }

    /// The same for a merge patch of the kept bytes, or of the default when there are none.
    func bytes(merging patch: JSONDocument, into kept: [UInt8]?, limit: Int) throws(SessionError) -> [UInt8] {
        if misfit == nil, let bytes = schema.merging(patch, into: kept ?? defaultBytes) {
            return try bounded(bytes, by: limit)
        }
        // A result that fits has taken the fast path. This one completes the document or finds its violations.
        return try bytes(of: try document(parsing: kept).merging(patch), limit: limit)
    }

    /// The document as a state of the service, completed where possible, and its remaining violations.
    func fit(_ document: JSONDocument) -> (state: JSONDocument, violations: [JSONViolation]) {
        // A document that fits lacks no required member.
        if schema.accepts(document), misfit?(document) == nil { return (document, []) }
        let state = completed(document) ?? document
        let violations = schema.violations(in: state)
        guard violations.isEmpty, let misfit = misfit?(state) else { return (state, violations) }
        return (state, [JSONViolation(pointer: misfit.pointer, detail: misfit.detail)])
    }

    /// - Throws: ``SessionError/tooLarge(service:limit:)``.
    func bounded(_ bytes: [UInt8], by limit: Int) throws(SessionError) -> [UInt8] {
        guard bytes.count <= limit else { throw .tooLarge(service: name, limit: limit) }
        return bytes
    }

    /// The document with the missing members of the default; `nil` when nothing is added.
    func completed(_ document: JSONDocument) -> JSONDocument? {
        guard completesFromDefault, let members = document.members, let defaults = self.default.members else {
            return nil
        }
        // Not a merge patch of the default: it would remove members that are null.
        let missing = defaults.filter { document[member: $0.name] == nil }
        guard !missing.isEmpty else { return nil }
        return JSONDocument(members: members + missing)
    }
}
