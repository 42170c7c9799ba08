import JSONDocument
import ServiceLocator
import Synchronization

/// One service of the catalogue, frozen, shared by all sessions.
package final class RegisteredService: Sendable {
    package let name: String
    let nameBytes: [UInt8]
    package let kind: String
    /// Its place in the catalogue.
    package let index: UInt16
    package let `default`: JSONDocument
    /// The default as it goes out.
    package let defaultBytes: [UInt8]
    package let lifetime: Int64?
    package let concurrency: ServiceConcurrency
    package let isUserBound: Bool
    package let isReadOnly: Bool
    private let completesFromDefault: Bool
    private let presentation: ServicePresentation?
    let schema: JSONSchema
    /// Makes the instance live in a locator.
    let revive: @Sendable (ServiceLocator) throws(ServiceLocatorError) -> Void
    /// The document with the default's members where it has none of its own; nil when it is to stay as it is.
    private func completed(_ document: JSONDocument) -> JSONDocument? {
        guard completesFromDefault, let members = document.members, let defaults = self.default.members else {
            return nil
        }
        // Not a merge patch of the default: that would take a null for a removal.
        let missing = defaults.filter { document[member: $0.name] == nil }
        guard !missing.isEmpty else { return nil }
        return JSONDocument(members: members + missing)
    }

    /// How many instances live, in all sessions.
    private let liveCount = Atomic<Int>(0)

    init(_ definition: ServiceDefinition, index: UInt16, schema: JSONSchema) {
        name = definition.name
        nameBytes = Array(definition.name.utf8)
        kind = definition.kind
        self.index = index
        self.default = definition.default
        defaultBytes = definition.default.serialized()
        lifetime = definition.lifetime
        concurrency = definition.concurrency
        isUserBound = definition.isUserBound
        isReadOnly = definition.isReadOnly
        completesFromDefault = definition.completesFromDefault
        presentation = definition.presentation
        self.schema = schema
        revive = definition.revive
    }

    /// The document whose bytes were kept; the default when none were.
    ///
    /// - Throws: ``SessionError/serviceFailed(service:reason:)`` when a store has not kept them as they were.
    func document(parsing bytes: [UInt8]?) throws(SessionError) -> JSONDocument {
        guard let bytes else { return self.default }
        do {
            return try JSONDocument(parsing: bytes)
        } catch {
            throw .serviceFailed(service: name, reason: "What the store kept of it is not JSON: \(error)")
        }
    }

    /// Whether what goes out of it is not what is kept: then the program alone writes it.
    var isKeptOtherwise: Bool { presentation != nil }

    /// What goes out of the bytes that were kept.
    func shown(_ bytes: [UInt8], _ environment: SessionEnvironment) -> [UInt8] {
        guard let presentation else { return bytes }
        return presentation.show(bytes, environment.timestamp) ?? defaultBytes
    }

    /// Whether an instance made then has reached the end of its lifetime.
    func isOver(createdAt: Int64, now: Int64) -> Bool {
        guard let lifetime else { return false }
        return now - createdAt >= lifetime
    }

    /// Checks a state and gives the bytes that are kept of it.
    ///
    /// - Throws: ``SessionError/invalid(_:)`` with every violation of the schema, ``SessionError/tooLarge(service:limit:)``.
    func bytes(of document: JSONDocument, limit: Int) throws(SessionError) -> [UInt8] {
        let (state, violations) = fit(document)
        guard violations.isEmpty else {
            throw .invalid(violations.map { .init(pointer: $0.pointer, detail: $0.detail) })
        }
        return try checked(state.serialized(), limit: limit)
    }

    /// The document as a state of the service, completed where it may be, and what is wrong with it even so.
    func fit(_ document: JSONDocument) -> (state: JSONDocument, violations: [JSONViolation]) {
        // Only what does not fit can lack a member that is required: what fits is not looked at again.
        if schema.accepts(document) { return (document, []) }
        let state = completed(document) ?? document
        return (state, schema.violations(in: state))
    }

    /// The same for a state as a client sends it.
    func bytes(of content: CheckedJSON, limit: Int) throws(SessionError) -> [UInt8] {
        if let text = content.plainText, let bytes = schema.merging(plain: text, into: nil) {
            return try checked(bytes, limit: limit)
        }
        return try bytes(of: try document(of: content), limit: limit)
    }

    /// The same for a merge patch of the bytes that were kept, or of the default when none were.
    func bytes(merging patch: CheckedJSON, into bytes: [UInt8]?, limit: Int) throws(SessionError) -> [UInt8] {
        if let text = patch.plainText, let merged = schema.merging(plain: text, into: bytes ?? defaultBytes) {
            return try checked(merged, limit: limit)
        }
        return try self.bytes(of: try document(parsing: bytes).merging(try document(of: patch)), limit: limit)
    }

    /// - Throws: ``SessionError/tooLarge(service:limit:)``.
    func checked(_ bytes: [UInt8], limit: Int) throws(SessionError) -> [UInt8] {
        guard bytes.count <= limit else { throw .tooLarge(service: name, limit: limit) }
        return bytes
    }

    private func document(of content: CheckedJSON) throws(SessionError) -> JSONDocument {
        do {
            return try content.document()
        } catch {
            throw .serviceFailed(service: name, reason: "What was sent cannot be read: \(error)")
        }
    }

    /// How many instances live, in all sessions. One at the end of its lifetime counts until its session is written.
    package var live: Int { liveCount.load(ordering: .relaxed) }

    func countLive(_ difference: Int) {
        guard difference != 0 else { return }
        liveCount.wrappingAdd(difference, ordering: .relaxed)
    }
}
